"""Programs for people who work on minigrad: builders of the book and the site, benchmarks, writers of generated files."""
