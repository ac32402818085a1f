"""`hyperheat explore`: pages on this machine to look at findings and at answers.

`guard` lets in only the browser that was given the address, `serving` runs the server, `code_site` and `statement_site` make
the pages, and `desk` gives all work on code to a process that can be killed, which does what `look` says.
"""
