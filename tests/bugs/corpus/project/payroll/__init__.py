"""What people earn."""
