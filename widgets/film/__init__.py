"""The film of a training run in a notebook: `watch` shows it while it is recorded, and saves it.

What lives here: the widget (view.py), its still picture (picture.py), files (export.py). What does not: recording and reading the
learner's program (minigrad/film.py), drawing in the browser (front/src/film/).
"""

from .view import FilmView, ShownFilm, watch

__all__ = ["FilmView", "ShownFilm", "watch"]
