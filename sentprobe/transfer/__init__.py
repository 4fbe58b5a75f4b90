"""The transfer tasks: their data, and how they are evaluated.

``remote_sets`` downloads the sets (with ``archive``), ``check`` compares them with what was published, and ``coco``
converts the image features of the retrieval task. The sets are read by ``sentprobe.data.layouts``.

``protocols`` trains and tests classifiers by splits and folds, on the features of ``pairs`` where the task is about two
sentences; ``relatedness``, ``similarity`` and ``retrieval`` are the tasks that are not classification.
"""
