"""What every package uses: arguments, files, checksums, hashes, threads, workers, plugins and third-party code."""
