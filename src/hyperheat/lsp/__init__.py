"""The language server: what `hyperheat check` finds, in an editor.

    hyperheat lsp            # started by an editor, which speaks with it over standard input and output

What happens to an edit: `server` takes the message and `documents` change the text; `session` has workers look at it
(`work`), gives up what is out of date and keeps the result of every function; `diagnostics`, `actions` and `hover` show it.

The server writes no files, and the code that it is sent is never imported or run: workers read it, within the limits of
`hyperheat check`.
"""
