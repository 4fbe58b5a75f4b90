"""Encoder schemes of the lab: what `sentprobe train` wrote, and models that papers released."""
