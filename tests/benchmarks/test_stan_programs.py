"""The paper's Stan script is read from its source, or one of ours stands in and says so."""

from __future__ import annotations

import pytest

import stan_programs
from stan_latex import LATEX, SAMPLED, SCRIPT
from understudy.errors import BadInput


def test_the_script_is_read_from_its_own_section_without_the_comments_of_latex():
    assert stan_programs.paper_script(LATEX) == SCRIPT


@pytest.mark.parametrize(
    "latex",
    [
        "",
        r"\begin{verbatim} data {} \end{verbatim}",
        LATEX.replace("Supp 2", "Supp 4"),
        r"\section*{Supp 2: words} none \section*{Supp 3} \begin{verbatim} data {} \end{verbatim}",
    ],
    ids=["empty", "no section", "another section", "script in the next section"],
)
def test_a_source_without_the_script_is_refused(latex):
    with pytest.raises(BadInput, match="no verbatim script"):
        stan_programs.paper_script(latex)


def test_generated_quantities_can_be_left_out():
    assert stan_programs.without_generated_quantities(SCRIPT) == SAMPLED
    assert stan_programs.without_generated_quantities(SAMPLED) == SAMPLED


def test_the_paper_s_script_is_used_where_its_source_is_present(tmp_path):
    source = tmp_path / "paper.tex"
    source.write_text(LATEX)
    script, sampling, vectorised = stan_programs.programs(source)
    assert (script.code, sampling.code) == (SCRIPT, SAMPLED)
    assert script.name == "the paper's script"
    assert vectorised.code == stan_programs.VECTORISED


def test_programs_declare_the_data_that_they_are_given(tmp_path):
    for program in stan_programs.programs(tmp_path / "absent"):
        block = program.code[: program.code.index("}")]
        declared = [line.split()[-1].rstrip(";") for line in block.splitlines() if ";" in line]
        assert declared == list(program.data)
