"""What encoders are trained for, one file per objective."""
