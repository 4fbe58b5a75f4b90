"""Tests of results: estimates, metrics, and what is made of them."""
