"""The paper's tables, row by row: `hyperheat reproduce`. Read in this order:

paper_tables.py    the rows, the sizes of models, and the paper's figures: a row is added here, in one line
row_corpora.py     the packages that Tables 1 and 2 are made of
budgets.py         what fits in so many minutes
matching.py        models with as many parameters as HEAT
bug_rows.py        a row of Table 1 or 2: data, model, figures
kg_rows.py         the same for Table 3
running.py         one run of one row: train, resume, measure, record
row_records.py     what is known of a finished run, in a file
going.py           several runs, one after the other
tables_page.py     the page of all runs beside the paper
"""
