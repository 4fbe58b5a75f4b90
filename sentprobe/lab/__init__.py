"""Where linguistic knowledge comes from: training encoders and language models, and mapping them across languages.

Nothing outside this package imports it. Its verbs, encoder schemes, charts, page sections and other parts are found as
those of any other package are: see ``sentprobe.core.plugins``.
"""
