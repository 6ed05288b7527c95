"""Whatever is wrong is told in one sentence, gives nothing away and leaves nothing behind."""

from pathlib import Path

import pytest

from command_line import BETA, CHAINS, HISTOGRAM, JOB
from understudy import cli
from understudy.domain import tables
from understudy.ledger.ledger import Ledger
from understudy.mechanisms import BY_NAME, one_round
from understudy.samplers import diagnostics, nuts


def test_a_missing_table(says, desk):
    (desk / "survey.csv").unlink()
    assert "there is no file survey.csv" in says(*JOB, *BETA)


def test_an_empty_table(says, desk):
    (desk / "survey.csv").write_text("")
    assert "survey.csv is empty" in says(*JOB, *BETA)


def test_a_table_with_a_header_only(says, desk):
    (desk / "survey.csv").write_text("salary,gender,age\n")
    assert "has no records" in says(*JOB, *BETA)


def test_a_table_without_a_header(says, desk, survey):
    lines = survey.table.splitlines()
    (desk / "survey.csv").write_text("\n".join([lines[41], *lines[1:]]))
    assert "is its first line a header?" in says(*JOB, *BETA)
    assert "column 1" in says("init", "survey.csv", "-o", "draft.toml")


def test_a_directory_in_place_of_a_table(says, desk):
    (desk / "folder.csv").mkdir()
    assert "there is no file in folder.csv" in says("synthesize", "folder.csv", *JOB[2:], *BETA)


def test_a_table_of_an_unknown_format(says, desk, survey):
    (desk / "survey.xlsx").write_text(survey.table)
    assert ".parquet" in says("synthesize", "survey.xlsx", *JOB[2:], *BETA)


def test_a_damaged_parquet_file(says, desk, survey):
    (desk / "survey.parquet").write_text(survey.table)
    assert "Parquet" in says("synthesize", "survey.parquet", *JOB[2:], *BETA)


def test_a_column_that_the_table_lacks(says, desk):
    frame = tables.read(desk / "survey.csv")
    frame[["gender", "age"]].to_csv(desk / "survey.csv", index=False)
    assert "survey.csv has no column 'salary'" in says(*JOB, *BETA)


def test_a_column_that_the_schema_lacks(says, edit):
    edit("survey.toml", "[columns.age]", "[columns.ages]")
    assert "'age' that the schema does not declare" in says(*JOB, *BETA)


def test_a_value_outside_its_bounds(says, edit):
    edit("survey.toml", "1000000", "900000")
    sentence = says(*JOB, *BETA)
    assert "row 41 of column 'salary'" in sentence
    assert "outside the declared bounds" in sentence


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("987654.321x", "not a finite number"),
        ("NaN", "not a finite number"),
        ("inf", "not a finite number"),
        ("-inf", "not a finite number"),
        ("1e999", "not a finite number"),
        ("", "missing"),
    ],
)
def test_a_salary_that_is_no_number(says, edit, survey, cell, complaint):
    edit("survey.csv", survey.secret, cell)
    sentence = says(*JOB, *BETA)
    assert "row 41 of column 'salary'" in sentence
    assert complaint in sentence


def test_an_unknown_level(says, edit, survey):
    edit("survey.csv", ",F,", f",{survey.secret},")
    sentence = says("synthesize", "survey.csv", "--schema", "public.toml", *JOB[4:], *BETA)
    assert "column 'gender'" in sentence
    assert "not one of the declared levels" in sentence


def test_predictors_that_do_not_fit(says, desk, survey):
    job = ["synthesize", "survey.csv", "--schema", "public.toml", *JOB[4:], *HISTOGRAM]
    (desk / "people.csv").write_text(f"gender,age\nF,{survey.secret}\n")
    assert "people.csv" in says(*job, "--predictors", "people.csv")
    (desk / "people.csv").write_text("gender\nF\n")
    assert "has no column 'age'" in says(*job, "--predictors", "people.csv")


def test_a_missing_schema(says, desk):
    (desk / "survey.toml").unlink()
    assert "no schema file survey.toml" in says(*JOB, *BETA)


def test_a_schema_that_is_not_toml(says, desk, survey):
    (desk / "survey.toml").write_text(survey.table)
    assert "not valid TOML" in says(*JOB, *BETA)


def test_reversed_bounds(says, edit):
    edit("survey.toml", "[0, 1000000]", "[1000000, 0]")
    sentence = says(*JOB, *BETA)
    assert "survey.toml" in sentence
    assert "'salary' has reversed bounds" in sentence


def test_no_declared_size_where_the_number_of_records_is_protected(says, edit):
    edit("survey.toml", "size = 120\n", "")
    for mechanism in (BETA, [*HISTOGRAM, "--bins", "9"]):
        sentence = says(*JOB, *mechanism)
        assert "size under [table]" in sentence
        assert "120" not in sentence


def test_no_declared_size_for_the_number_of_bins(says, edit):
    edit("survey.toml", "size = 120\n", "")
    sentence = says(*JOB, *HISTOGRAM, "--rows", "50")
    assert "declares none" in sentence
    assert "--bins" in sentence


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "mechanism", ["summary", "censor-uw", "censor-w", "weighted-e", "weighted", "ph"]
)
def test_an_epsilon_that_is_not_positive_and_finite(says, mechanism, epsilon):
    job = [*JOB, "--model", "beta", "--mechanism", mechanism, "--epsilon", epsilon]
    assert "--epsilon must be a positive number" in says(*job)


def test_an_epsilon_that_is_text(says):
    assert "--epsilon" in says(*JOB, "--model", "beta", "--epsilon", "two")


@pytest.mark.parametrize("mechanism", ["summary", "censor-uw", "censor-w", "weighted-e", "ph"])
def test_no_epsilon_where_one_is_needed(says, mechanism):
    sentence = says(*JOB, "--model", "beta", "--mechanism", mechanism)
    assert f"{mechanism} needs --epsilon" in sentence


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("censor_w", "censor-w"),
        ("weigthed", "weighted"),
        ("Unweighted", "unweighted"),
        ("Sumary", "summary"),
    ],
)
def test_an_unknown_mechanism_suggests_the_nearest(says, wrong, right):
    assert f"did you mean '{right}'?" in says(*JOB, *BETA, "--mechanism", wrong)


def test_an_unknown_mechanism_lists_the_known_ones(says):
    sentence = says(*JOB, *BETA, "--mechanism", "magic")
    for name in BY_NAME:
        assert name in sentence


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--adjacency", "swap"], "--adjacency must be 'add-remove' or 'replace-one'"),
        (["--rows", "0"], "--rows must be a positive whole number"),
        (["--rows", "many"], "--rows must be a whole number, not 'many'"),
        (["--rows", "1.5"], "--rows must be a whole number, not '1.5'"),
        (["--epsilon", "abc"], "--epsilon must be a number, not 'abc'"),
        (["--epsilon", ""], "--epsilon must be a number, not ''"),
        (["--tables", "0"], "--tables must be a number from 1"),
        (["--tables", "101"], "--tables must be a number from 1"),
        (["--seed", "-1"], "--seed must be"),
        (["--sampler", "gibbs"], "no sampler 'gibbs'"),
        (["--mechanism", "censor-w", "--sampler", "exact"], "exact draws serve anchored"),
        (["--mechanism", "anchored", "--threshold", "0"], "--threshold must be"),
        (["--mechanism", "anchored", "--stages", "0"], "--stages must be"),
        (["--mechanism", "anchored", "--growth", "1"], "--growth must be"),
        (["--mechanism", "anchored", "--candidates", "0"], "--candidates must be"),
        (
            ["--mechanism", "anchored", "--anchor", "no.json"],
            "no 'no.json' to take an --anchor from",
        ),
        (["--mechanism", "anchored", "--accept-poor-mixing"], "release by anchored draws none"),
        (["--anchor", "no.json"], "no 'no.json' to take an --anchor from"),
        (["--mechanism", "censor-uw", "--anchor", "no.json"], "--anchor means nothing"),
        (["--reference", "survey.csv"], "--reference means nothing"),
        (["--reference", "a.csv", "--reference-is", "public"], "--reference means nothing"),
        (["--sampler", "nuts"], "summary draws nothing but noise: leave out --sampler"),
        (["--sampler", "exact"], "summary draws nothing but noise: leave out --sampler"),
        (["--accept-poor-mixing"], "leave out --accept-poor-mixing"),
        (["--threshold", "1"], "summary does not take --threshold"),
        (["--stages", "2"], "summary does not take --stages"),
        (["--growth", "9"], "summary does not take --growth"),
        (["--candidates", "9"], "summary does not take --candidates"),
        (["--c2", "0"], "summary does not take --c2"),
        (["--mechanism", "anchored", "--reference", "survey.csv"], "say which with --reference-is"),
        (["--mechanism", "censor-w", "--reference-is", "public"], "name it with --reference"),
        (["--ledger", "no.db"], "no.db"),
        (["--bins", "9"], "summary does not take --bins"),
        (["--c1", "1"], "summary does not take --c1"),
        (["--mechanism", "censor-uw", "--c1", "1"], "censor-uw does not take --c1"),
        (["--mechanism", "weighted", "--c1", "-1"], "--c1 must not be negative"),
        (["--mechanism", "weighted", "--c2", "nan"], "--c2 must be a finite number"),
        (["--mechanism", "ph", "--bins", "some"], "--bins must be"),
        (["--family", "beta"], "--family belongs to a formula"),
        (["--predictors", "public.csv"], "no file public.csv"),
        (["--predictors", "survey.csv"], "no public column"),
        (["--epsilom", "3"], "--epsilon"),
        (["--epsilon"], "--epsilon"),
        (["another.csv"], "another.csv"),
    ],
)
def test_an_option_that_makes_no_sense(says, options, complaint):
    assert complaint in says(*JOB, *BETA, *options)


@pytest.mark.parametrize("option", ["--schema", "--out"])
def test_a_missing_required_option(says, option):
    at = JOB.index(option)
    sentence = says(*JOB[:at], *JOB[at + 2 :], *BETA)
    assert f"{option} is missing (" in sentence


def test_a_missing_model(says):
    assert "summary needs --model" in says(*JOB, "--epsilon", "2")


def test_a_destination_that_exists(says, desk):
    (desk / "out").mkdir()
    (desk / "out" / "thesis.txt").write_text("years of work")
    for given in ([], ["--force"]):
        sentence = says(*JOB, *BETA, *given)
        assert "'out' exists already and holds something other than a release" in sentence
        assert "not replaced, even with --force: choose another --out" in sentence


@pytest.mark.parametrize("name", ["public", "internal"])
def test_a_destination_that_only_looks_like_a_release(says, desk, name):
    (desk / "out" / name).mkdir(parents=True)
    (desk / "out" / name / "index.html").write_text("years of work")
    assert "not replaced, even with --force" in says(*JOB, *BETA, "--force")


def test_a_destination_that_is_a_file(says, desk):
    (desk / "out").write_text("years of work")
    assert "not replaced, even with --force" in says(*JOB, *BETA, "--force")


def test_a_destination_that_is_a_link_to_a_release(says, desk, capsys):
    assert cli.run([*JOB[:-1], "release", *HISTOGRAM, "--quiet"]) == 0
    (desk / "out").symlink_to("release")
    assert "not replaced, even with --force" in says(*JOB, *HISTOGRAM, "--force")


def test_a_destination_inside_a_file(says):
    assert "nothing can be written" in says(*JOB[:-1], "survey.csv/out", *HISTOGRAM)


def test_an_earlier_release_survives_a_job_that_fails(says, earlier, edit):
    edit("survey.toml", "1000000", "900000")
    assert "outside" in says(*JOB, *HISTOGRAM, "--force")


@pytest.mark.parametrize("moves", [0, 1])
def test_an_earlier_release_survives_an_interruption_while_it_is_replaced(
    says, earlier, monkeypatch, moves
):
    rename, calls = Path.rename, []

    def interrupted(path, target):
        calls.append(path)
        if len(calls) == moves + 1:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    assert "interrupted" in says(*JOB, *HISTOGRAM, "--force")
    assert len(calls) > moves


@pytest.mark.parametrize(
    ("option", "reason"),
    [(["--accept-poor-mixing"], "by ph draws none"), (["--sampler", "nuts"], "ph draws no")],
)
def test_options_that_mean_nothing_to_a_histogram(says, option, reason):
    assert reason in says(*JOB, *HISTOGRAM, *option)


def test_a_model_file_in_the_home_directory_is_not_taken_for_a_formula(says):
    job = [*JOB, "--epsilon", "1", "--model", "~/no-such-file.py:pay"]
    assert "does not exist" in says(*job)


IMPORTS = "import numpyro\nimport numpyro.distributions as dist\nimport jax.numpy as jnp\n"

MODELS = {
    "import": ("raise ValueError('no luck\\ntoday')\ndef pay(salary, n): pass", "ValueError"),
    "exit": ("import sys\nsys.exit()\ndef pay(salary, n): pass", "SystemExit"),
    "syntax": ("def pay(salary, n) pass", "SyntaxError"),
    "nothing": ("def play(salary, n): pass", "no function or model called 'pay'"),
    "raises": (
        "def pay(salary, n): raise ValueError(f'no luck\\nwith {salary}')",
        "raised ValueError: no luck",
    ),
    "exits": ("import sys\ndef pay(salary, n): sys.exit('enough')", "raised SystemExit"),
    "argument": ("def pay(salary, wage, n): pass", "asks for 'wage'"),
    "plate": (
        """
def pay(salary, n):
    mean = numpyro.sample("mean", dist.Normal(0, 1))
    numpyro.sample("salary", dist.LogNormal(12 + mean, 1), obs=salary)
""",
        "no record plate",
    ),
    "simulation": (
        """
def pay(salary):
    mean = numpyro.sample("mean", dist.Normal(0, 1))
    with numpyro.plate("records", len(salary)):
        numpyro.sample("salary", dist.LogNormal(12 + mean, 1), obs=salary)
""",
        "raised TypeError",
    ),
    "prior": (
        """
def pay(salary, n):
    centre = 12.0 if salary is None else jnp.log(salary).mean()
    mean = numpyro.sample("mean", dist.Normal(centre, 1))
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.LogNormal(mean, 1), obs=salary)
""",
        "prior of the model 'pay' depends on the table",
    ),
    "size": (
        """
def pay(salary, n):
    mean = numpyro.sample("mean", dist.Normal(12, 1 / n))
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.LogNormal(mean, 1), obs=salary)
""",
        "prior of the model 'pay' depends on the table",
    ),
    "records": (
        """
def pay(salary, n):
    mean = numpyro.sample("mean", dist.Normal(0, 1))
    largest = 1e6 if salary is None else jnp.max(salary)
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.LogNormal(jnp.log(largest) + mean, 1), obs=salary)
""",
        "likelihood of a record depends on other records",
    ),
    "latent": (
        """
def pay(salary, n):
    with numpyro.plate("records", n):
        mean = numpyro.sample("mean", dist.Normal(12, 1))
        numpyro.sample("salary", dist.LogNormal(mean, 1), obs=salary)
""",
        "'mean' is in the record plate",
    ),
    "improper": (
        """
def pay(salary, n):
    mean = numpyro.sample("mean", dist.ImproperUniform(dist.constraints.real, (), ()))
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.LogNormal(mean, 1), obs=salary)
""",
        "prior of 'mean' is improper",
    ),
    "discrete": (
        """
def pay(salary, n):
    shift = numpyro.sample("shift", dist.Bernoulli(0.5))
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.LogNormal(12.0 + shift, 1), obs=salary)
""",
        "'shift' is discrete",
    ),
    "unobserved": (
        """
def pay(salary, n):
    mean = numpyro.sample("mean", dist.Normal(0, 1))
    with numpyro.plate("records", n):
        numpyro.sample("wage", dist.LogNormal(12 + mean, 1), obs=salary)
""",
        "no observed site called 'salary'",
    ),
}


@pytest.mark.parametrize(("code", "complaint"), MODELS.values(), ids=MODELS)
def test_a_model_file_that_cannot_be_trusted(says, desk, code, complaint):
    (desk / "model.py").write_text(IMPORTS + code + "\n")
    sentence = says(*JOB, "--model", "model.py:pay", "--epsilon", "2")
    assert complaint in sentence
    assert "model" in sentence


def test_a_model_file_that_does_not_exist(says):
    assert "'model.py' does not exist" in says(*JOB, "--model", "model.py:pay", "--epsilon", "2")


def test_an_unknown_model(says):
    assert "did you mean 'beta'?" in says(*JOB, "--model", "betta", "--epsilon", "2")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("salary ~ gender + wage", "'wage', which is not a column"),
        ("gender ~ age", "only a confidential column is synthesised"),
        ("salary ~ gender +", "cannot be used"),
        ("salary ~ lag(age)", "salary ~ lag(age)"),
        ("~ gender", "'outcome ~ predictors'"),
        ("salary ~ salary", "must be public"),
    ],
)
def test_a_formula_that_cannot_be_used(says, text, complaint):
    job = ["synthesize", "survey.csv", "--schema", "public.toml", *JOB[4:], "--epsilon", "2"]
    assert complaint in says(*job, "--model", text, "--family", "beta")


def test_a_formula_needs_a_known_family(says):
    job = ["synthesize", "survey.csv", "--schema", "public.toml", *JOB[4:], "--epsilon", "2"]
    assert "--family" in says(*job, "--model", "salary ~ age")
    assert "'gauss' is not known" in says(*job, "--model", "salary ~ age", "--family", "gauss")


def test_a_model_for_another_number_of_columns(says, edit):
    edit("survey.toml", '"ignore"', '"confidential"')
    assert "salary, gender" in says(*JOB, *BETA)
    assert "salary (continuous), gender" in says(*JOB, *HISTOGRAM)


ACCEPTED = "--accept-poor-mixing"


@pytest.fixture
def never_converging(monkeypatch):
    """Let no chain pass the gate, and give up soon."""
    monkeypatch.setattr(diagnostics, "LARGEST_RHAT", 0.5)
    monkeypatch.setattr(nuts, "BLOCK", 100)


@pytest.mark.slow
def test_chains_that_have_not_converged_are_refused(says, never_converging):
    sentence = says(*JOB, *CHAINS, code=3)
    assert sentence.startswith("refused: the chains have not converged")
    assert ACCEPTED in sentence


def assumptions(desk):
    return (desk / "out" / "public" / "guarantee.txt").read_text()


@pytest.mark.slow
def test_chains_that_have_not_converged_are_released_if_that_was_accepted(
    desk, capsys, never_converging
):
    assert cli.run([*JOB, *CHAINS, ACCEPTED]) == 0
    assert "Poor mixing of the chains was accepted in advance" in assumptions(desk)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_the_assumption_does_not_reveal_whether_the_chains_converged(desk, capsys):
    assert cli.run([*JOB, *CHAINS, ACCEPTED]) == 0
    assert "Poor mixing of the chains was accepted in advance" in assumptions(desk)


SUMMARY = ["--model", "beta", "--mechanism", "summary", "--epsilon", "1"]


@pytest.mark.parametrize("delta", ["0", "2", "1", "-1e-6", "nan"])
def test_a_delta_that_is_no_probability(says, delta):
    assert "--delta must be a number between 0 and 1" in says(*JOB, *SUMMARY, f"--delta={delta}")


@pytest.mark.parametrize("mechanism", ["anchored", "censor-uw", "ph", "unweighted"])
def test_a_delta_for_a_mechanism_without_one(says, mechanism):
    options = ["--model", "beta", "--mechanism", mechanism, "--epsilon", "1", "--delta", "1e-6"]
    assert f"the mechanism {mechanism} does not take --delta: leave it out" in says(*JOB, *options)


def test_a_delta_and_a_ledger_without_one(says, desk, monkeypatch):
    Ledger.create(desk / "ledger.db", budget=9.0, adjacency="add-remove")
    monkeypatch.setattr(one_round, "with_noise", None)  # Nothing is drawn.
    said = says(*JOB, *SUMMARY, "--delta", "1e-6", "--ledger", "ledger.db", code=3)
    assert "a budget of pure ε, and a release with a --delta has none" in said
    assert "nothing was charged" in said


def test_balanced_rows_of_a_table_with_rules(says, edit):
    edit("survey.toml", "[table]", '[[rules]]\nthen = "salary <= 1000000"\n\n[table]')
    said = says(*JOB, *HISTOGRAM, "--balanced")
    assert "structural rules" in said
    assert "leave out --balanced" in said


def test_balanced_rows_of_a_model_in_a_file(says, desk):
    (desk / "model.py").write_text(ONE_COLUMN)
    said = says(*JOB, "--model", "model.py:pay", "--epsilon", "2", "--balanced")
    assert "draws its rows by functions of its own" in said


ONE_COLUMN = """\
import numpyro
import numpyro.distributions as dist


def pay(salary, n):
    rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
    with numpyro.plate("records", n):
        numpyro.sample("salary", dist.Exponential(rate / 1e5), obs=salary)
"""


WHOLE = ["--model", "joint", "--epsilon", "1"]


@pytest.mark.parametrize("model", ["joint", "mixture"])
def test_a_column_with_thousands_of_levels(says, desk, model):
    levels = ", ".join(f'"area {k}"' for k in range(5000))
    (desk / "survey.toml").write_text(
        f'[table]\nsize = 3\n[columns.area]\nrole = "confidential"\ntype = "categorical"\n'
        f"levels = [{levels}]\n"
    )
    (desk / "survey.csv").write_text("area\narea 7\narea 8\narea 4999\n")
    told = says(*JOB, "--model", model, *WHOLE[2:])
    assert f"too many levels for the {model} model, 'area' alone 5,000: declare fewer" in told


def test_a_column_that_is_all_missing_and_was_not_declared_so(says, desk):
    (desk / "survey.toml").write_text(
        '[table]\nsize = 3\n[columns.pay]\nrole = "confidential"\ntype = "continuous"\n'
        "bounds = [0, 9]\n"
    )
    (desk / "survey.csv").write_text('pay\n""\n""\n""\n')
    assert "the value in row 1 (and in others) of column 'pay'" in says(*JOB, *WHOLE)


def test_more_columns_than_whole_tables_may_have(says, desk):
    names = [f"y{k}" for k in range(301)]
    declared = "".join(f'[columns.{n}]\nrole = "confidential"\ntype = "binary"\n' for n in names)
    (desk / "survey.toml").write_text(f"[table]\nsize = 2\n{declared}")
    lines = (names, ["0"] * 301, ["1"] * 301)
    (desk / "survey.csv").write_text("\n".join(map(",".join, lines)))
    assert "has 301 columns, more than 300 for the joint model" in says(*JOB, *WHOLE)


def test_a_released_weight_beside_one_outcome(says, desk):
    with (desk / "survey.toml").open("a") as file:
        file.write('\n[columns.w]\nrole = "survey-weight"\nbounds = [0, 9]\nrelease = true\n')
    frame = tables.read(desk / "survey.csv").assign(w="3.5")
    frame.to_csv(desk / "survey.csv", index=False)
    assert "has release = true, which needs a model of whole tables" in says(*JOB, *BETA)
