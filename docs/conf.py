"""How Sphinx builds the site: from the pages here and, in `api/`, from the docstrings.

Nothing is loaded from elsewhere, neither while building nor while reading.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

import api_reference  # noqa: E402
import understudy  # noqa: E402

project = "understudy"
author = "The understudy developers"
release = understudy.__version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["tutorial", "_build"]
myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 3
# Dashes in the reference; quotation marks stay as they are written.
smartquotes_action = "D"
highlight_language = "text"
maximum_signature_line_length = 80
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = f"understudy {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {
        "code-font-size": "77%",  # Formulas of a hundred characters fit on a line.
        "color-brand-primary": "#0b4f8a",
        "color-brand-content": "#0b5cad",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8cc4ff",
        "color-brand-content": "#8cc4ff",
    },
}

api_reference.write(Path(__file__).parent / "api")
