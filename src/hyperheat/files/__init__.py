"""Reading and writing single files that may be anything: a pipe, a device, a link, too large, gone, half written."""
