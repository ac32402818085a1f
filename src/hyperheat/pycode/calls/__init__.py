"""What calls and operators call, and which parameter each argument reaches."""
