"""What every room uses: arguments, files, checksums, digests, threads and workers, other people's code."""
