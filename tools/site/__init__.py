"""The course as static pages: `python -m tools.site` builds them, the files beside it test them."""
