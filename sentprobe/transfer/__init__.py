"""The transfer tasks: their data, and how they are evaluated.

``remote_sets`` and ``fetch`` download the sets, ``check`` compares them with what was published, and ``coco`` has
the image features of the retrieval task. The sets are read by ``sentprobe.data.layouts``.
"""
