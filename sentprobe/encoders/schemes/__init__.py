"""One file, one encoder scheme; the file is named as the scheme is, and has ``load(spec: Spec) -> Encoder``."""
