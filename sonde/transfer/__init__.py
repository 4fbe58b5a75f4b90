"""The transfer tasks: their data, and what is done with it.

``places`` and ``get`` fetch the sets, ``check`` says whether what is there is what was published, and ``coco`` has the
image features of the retrieval task. Reading the sets is the work of ``sonde.data.layouts``.
"""
