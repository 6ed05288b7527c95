"""The Stan programs that `against_stan.py` times: the paper's own, and one of ours.

The paper's script is read from its LaTeX source when the benchmark runs and is no part of the
project. Where that file is absent, `PER_RECORD` stands in: the same density, evaluated record by
record as the paper does, with the same two quantities generated for every record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import BadInput

_SECTION = "Supp 2"
_SCRIPT = re.compile(r"\\begin\{verbatim\}(.*?)\\end\{verbatim\}", re.DOTALL)
_LAST_BLOCK = re.compile(r"^\s*generated\s+quantities\s*\{", re.MULTILINE)

PER_RECORD = """
data {
  int<lower=1> n;
  vector[n] outcome;
  vector<lower=0>[n] alpha;
  real<lower=0> M;
}
parameters {
  real<lower=0, upper=1> phi;
  real<lower=0.1> lambda;
}
model {
  lambda ~ pareto(0.1, 1.5);
  for (i in 1 : n) {
    real f = beta_lpdf(outcome[i] | lambda * phi, lambda * (1 - phi));
    target += fmin(M, fmax(-M, alpha[i] * f));
  }
}
generated quantities {
  vector[n] weighted;
  vector[n] score;
  for (i in 1 : n) {
    weighted[i] = alpha[i] * beta_lpdf(outcome[i] | lambda * phi, lambda * (1 - phi));
    score[i] = fmin(M, fmax(-M, weighted[i]));
  }
}
"""

# One product of a constant matrix with three numbers is the cheapest form for Stan's derivatives:
# half the time of adding the three vectors up.
VECTORISED = """
data {
  int<lower=1> n;
  vector[n] log_x;
  vector[n] log1m_x;
  vector<lower=0>[n] alpha;
  real<lower=0> M;
}
transformed data {
  matrix[n, 3] terms = append_col(append_col(alpha .* log_x, alpha .* log1m_x), alpha);
}
parameters {
  real<lower=0, upper=1> phi;
  real<lower=0.1> lambda;
}
model {
  real a = lambda * phi;
  real b = lambda * (1 - phi);
  lambda ~ pareto(0.1, 1.5);
  target += sum(fmin(fmax(terms * [a - 1, b - 1, -lbeta(a, b)]', -M), M));
}
"""


@dataclass(frozen=True)
class StanProgram:
    """A Stan program under the name that the tables give it."""

    name: str
    code: str
    data: tuple[str, ...]
    """What it has to be given, of what `stan_fits.py` can give."""


def programs(paper: Path) -> tuple[StanProgram, StanProgram, StanProgram]:
    """Return the per-record program, the same without its last block, and the vectorised one."""
    if paper.is_file():
        whose, code = "the paper's script", paper_script(paper.read_text(encoding="utf-8"))
    else:
        whose, code = "Stan, our per-record stand-in", PER_RECORD
    shorter = without_generated_quantities(code)
    records = ("n", "outcome", "alpha", "M")
    logarithms = ("n", "log_x", "log1m_x", "alpha", "M")
    return (
        StanProgram(whose, code, records),
        StanProgram(f"{whose} without generated quantities", shorter, records),
        StanProgram("Stan, vectorised", VECTORISED, logarithms),
    )


def paper_script(latex: str) -> str:
    """Return the Stan script of Supplement 2 from the paper's LaTeX source."""
    begin = latex.find(f"\\section*{{{_SECTION}")
    end = latex.find("\\section", begin + 1)
    found = _SCRIPT.search(latex[begin : end if end > 0 else None]) if begin >= 0 else None
    if found is None:
        raise BadInput(
            f"the LaTeX source has no verbatim script in its section '{_SECTION}': give the "
            f"paper's source with --paper, or a path that does not exist to use the stand-in."
        )
    lines = found.group(1).splitlines()
    return "\n".join(line for line in lines if not line.startswith("%")).strip() + "\n"


def without_generated_quantities(code: str) -> str:
    """Return a program without its generated quantities, which Stan requires to come last."""
    found = _LAST_BLOCK.search(code)
    return code if found is None else code[: found.start()].rstrip() + "\n"
