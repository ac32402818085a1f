"""Making bug detectors: data, training, evaluation, export. `detector` runs them; `check` uses them.

Read in this order:

    corpus/                         random bugs, planted in the functions of packages
    mining/                         real bugs, from the commits of repositories
    shards.py, dataset.py           samples in Parquet files, and a folder of them
    mapped_samples.py               the same samples as columns in mapped memory, batched without objects
    curriculum.py                   which samples are trained on, in which order and in which batches
    encoders.py, model.py           the encoder of a function, and the head that scores locations and rewrites
    trained_detector.py             a detector as a folder that torch trains and the checker runs
    training.py, recipes.py         one training run, and complete settings by name
    answers.py, metrics.py          a detector's answers to samples, and figures over them
    evaluation.py, held_out.py      measuring a detector on a split, and on functions it was not trained on
    export.py                       a trained detector as a folder to give away, with a model card
"""
