"""`understudy release`: one period, with its refusals."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

import understudy as us
from offices import arguments, entries
from settling import settled
from understudy.cli import run
from understudy.mechanisms import Anchored
from understudy.periods.pending import PendingRelease
from understudy.periods.policy import Policy


def test_a_period_is_charged_published_and_the_next_one_s_anchor(office):
    assert run(arguments(office, "2026-01")) == 0
    charge, publication = entries(office)
    released = json.loads((office / "2026-01/public/parameters.json").read_text())
    assert publication.details["theta"] == released["parameters"]
    assert charge.details["period"] == "2026-01"
    assert charge.details["population"] == "staff"
    assert charge.details["destination"] == str(office / "2026-01")
    assert {"policy_digest", "schema_digest"} <= charge.details.keys()
    assert charge.cost.epsilon == 0.5

    following = PendingRelease.of(office / "POLICY.toml", "2026-02", office / "ledger.db")
    assert isinstance(following.mechanism, Anchored)
    assert following.mechanism.anchor == released["parameters"]
    assert following.anchor == "θ of period 2026-01"


def test_a_dry_run_shows_what_would_be_spent_and_spends_nothing(office, capsys):
    assert run(arguments(office, "2026-01", "--dry-run")) == 0
    told = capsys.readouterr().out
    assert "ε = 0.5 under add-remove" in told
    assert "ε = 0 of 2" in told
    assert "Nothing was charged" in told
    assert not entries(office)
    assert not (office / "2026-01").exists()


def test_the_help_says_that_nothing_is_carried_over_under_a_policy(capsys):
    for command, told in (
        ("release", "is not carried over as a prior"),
        ("synthesize", "not under a policy"),
    ):
        assert run([command, "--help"]) == 0
        assert told in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_a_dry_run_reads_the_table_too(office, capsys):
    pd.DataFrame({"pay": [5.0, 400.0]}).to_csv(office / "1.csv", index=False)
    assert run(arguments(office, "2026-01", "--dry-run")) == 2
    assert "400" not in capsys.readouterr().err


@pytest.mark.slow
def test_the_year_adds_up_and_ends_with_the_budget(office, capsys):
    for month in range(1, 5):
        assert run(arguments(office, f"2026-0{month}", table=1 + month % 3)) == 0
    assert us.Ledger.open(office / "ledger.db").spent().epsilon == 2.0
    assert "The budget ends" in capsys.readouterr().err, "even with --quiet"
    assert run(arguments(office, "2026-05", "--dry-run")) == 3
    assert "it would be refused" in capsys.readouterr().out
    assert run(arguments(office, "2026-05")) == 3
    assert "more than the ledger allows" in capsys.readouterr().err
    assert not (office / "2026-05").exists()


def refused(office, capsys, reason, *given, **more):
    before = entries(office)
    assert run(arguments(office, *given, **more)) == 3
    told = capsys.readouterr().err
    assert reason in told
    assert len(told.splitlines()) == 1, "one sentence"
    assert entries(office) == before
    return told


def test_a_changed_bound_is_refused(office, capsys):
    schema = office / "pay.toml"
    schema.write_text(schema.read_text().replace("100", "120"))
    assert refused(office, capsys, "has changed since the policy was calibrated", "2026-01")


def test_a_replayed_period_is_refused(office, capsys):
    assert run(arguments(office, "2026-01")) == 0
    shutil.rmtree(office / "2026-01")
    assert refused(office, capsys, "cannot be released twice", "2026-01")


def test_a_period_out_of_order_is_refused(office, capsys):
    assert run(arguments(office, "2026-02")) == 0
    assert refused(office, capsys, "out of order", "2026-01")


def test_another_population_s_ledger_is_refused(office, capsys):
    us.Ledger.create(office / "b.db", budget=2.0, adjacency="add-remove", population="pupils")
    assert refused(office, capsys, "the ledger protects 'pupils'", "2026-01", ledger="b.db")
    us.Ledger.create(office / "c.db", budget=2.0, adjacency="add-remove")
    assert refused(office, capsys, "the ledger names no population", "2026-01", ledger="c.db")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"adjacency": "replace-one"}, "counts under replace-one"),
        ({"budget": 3.0}, "a budget of ε = 3,"),
        ({"delta": 1e-6}, "a budget of ε = 2 at δ = 1e-06, but the policy"),
    ],
)
def test_a_ledger_with_other_terms_is_refused(office, capsys, changed, reason):
    given = {"budget": 2.0, "adjacency": "add-remove", "population": "staff"} | changed
    us.Ledger.create(office / "b.db", **given)
    assert refused(office, capsys, reason, "2026-01", ledger="b.db")


def test_an_edited_policy_is_refused(office, capsys):
    policy = office / "POLICY.toml"
    policy.write_text(policy.read_text().replace("epsilon = 0.5", "epsilon = 0.1"))
    assert refused(office, capsys, "was edited", "2026-01")


@pytest.mark.slow
def test_of_two_releases_at_once_one_is_refused(office):
    def start(name):
        command = [sys.executable, "-m", "understudy", *arguments(office, "2026-01")]
        command[command.index("--out") + 1] = str(office / name)
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    both = [start("one"), start("two")]
    told = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 3]
    assert any("under way" in text or "released twice" in text for text in told)
    assert [entry.kind for entry in entries(office)] == ["charge", "published"]
    assert (office / "one").exists() != (office / "two").exists()


def test_another_policy_for_the_same_ledger_is_refused(office, capsys):
    assert run(arguments(office, "2026-01")) == 0
    replace(Policy.load(office / "POLICY.toml"), epsilon=0.25).write(office / "OTHER.toml")
    shutil.copy(office / "POLICY.reference.json", office / "OTHER.reference.json")
    assert refused(office, capsys, "had another policy", "2026-02", policy="OTHER.toml")


def test_an_abandoned_charge_has_to_be_named_as_one(office, capsys):
    issue = PendingRelease.of(office / "POLICY.toml", "2026-01", office / "ledger.db")
    late = issue.release(office / "1.csv")  # Charged, drawn, and not written yet.
    assert refused(office, capsys, "ledger abandon LEDGER 1", "2026-01")
    assert run(["ledger", "abandon", str(office / "ledger.db"), "1"]) == 0
    assert "Entry 1 is abandoned" in capsys.readouterr().out
    assert run(arguments(office, "2026-01")) == 0
    assert run(arguments(office, "2026-02")) == 0
    with pytest.raises(us.BadInput, match="was abandoned"):
        late.write(office / "late")
    assert not (office / "late").exists()
    assert us.Ledger.open(office / "ledger.db").spent().epsilon == 1.5
    assert run(["ledger", "show", str(office / "ledger.db")]) == 0
    assert "abandoned" in capsys.readouterr().out.splitlines()[1]


def test_the_public_reference_itself_is_not_released(office, capsys):
    assert refused(office, capsys, "calibrated on as a public reference", "2026-01", table=0)
    assert refused(office, capsys, "public reference", "2026-01", "--dry-run", table=0)
    pd.read_csv(office / "0.csv")[::-1].to_csv(office / "0.csv", index=False)
    assert refused(office, capsys, "calibrated on as a public reference", "2026-01", table=0)


SAME = {
    "as it is": lambda table: table,
    "other order of rows": lambda table: table.sample(frac=1, random_state=1),
    "other order of columns": lambda table: table[["note", "pay"]],
    "other notes": lambda table: table.assign(note="?"),
}


@pytest.fixture(scope="module")
def inside(tmp_path_factory, prepared):
    """A policy that was calibrated on a confidential reference, with a column that is ignored."""
    place = tmp_path_factory.mktemp("inside")
    text = (prepared / "pay.toml").read_text() + '[columns.note]\nrole = "ignore"\n'
    (place / "pay.toml").write_text(text)
    for number in range(2):
        table = pd.read_csv(prepared / f"{number}.csv").assign(note=range(120))
        table.to_csv(place / f"{number}.csv", index=False)
    settled(
        place / "0.csv", reference_is="confidential", schema=place / "pay.toml", model=None,
        epsilon=0.5, mechanisms=["ph"], draws=1, population="staff",
        budget=2.0,
    ).write(place / "POLICY.toml", schema=place / "pay.toml")  # fmt: skip
    return place


@pytest.fixture
def bureau(inside, tmp_path):
    place = tmp_path / "bureau"
    shutil.copytree(inside, place)
    us.Ledger.create(place / "ledger.db", budget=2.0, adjacency="add-remove", population="staff")
    return place


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_a_confidential_reference_is_not_released_either(bureau, capsys, change, suffix):
    again = change(pd.read_csv(bureau / "0.csv"))
    file = bureau / f"again{suffix}"
    again.to_csv(file, index=False) if suffix == ".csv" else again.to_parquet(file, index=False)
    for more in ([], ["--dry-run"]):
        given = arguments(bureau, "2026-01", *more)
        given[1] = str(file)
        assert run(given) == 3
        told = capsys.readouterr().err
        assert "chosen by looking at this very table" in told
        assert "no ε covers" in told
        assert len(told.splitlines()) == 1
    assert not entries(bureau)
    assert not (bureau / "2026-01").exists()


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["release", "dry-run"])
class TestReferenceFile:
    def test_without_it_nothing_is_released(self, office, capsys, more):
        (office / "POLICY.reference.json").unlink()
        told = refused(office, capsys, "POLICY.reference.json", "2026-01", *more)
        assert "put it back beside the policy" in told

    def test_one_that_was_edited_is_refused(self, office, capsys, more):
        file = office / "POLICY.reference.json"
        kept = json.loads(file.read_text())
        file.write_text(
            json.dumps(kept | {"mark of sums": kept["mark of sums"][::-1]}, indent=2) + "\n"
        )
        assert refused(office, capsys, "does not fit the policy", "2026-01", *more)

    def test_one_of_another_policy_is_refused(self, office, inside, capsys, more):
        shutil.copy(inside / "POLICY.reference.json", office)
        assert refused(office, capsys, "does not fit the policy", "2026-01", *more)


def _plain_assumptions(office):
    """Of a release without a policy."""
    schema = us.Schema.load(office / "pay.toml")
    made = us.synthesize(schema, office / "1.csv", us.PerturbedHistogram(epsilon=1.0))
    return made.guarantee.assumptions


def test_every_public_file_says_what_the_settings_were_chosen_on(office, bureau):
    said = {
        office: "The settings of this release were chosen on a public reference table",
        bureau: "chosen on a confidential reference table, whose records this ε does not cover",
    }
    for place, sentence in said.items():
        assert run(arguments(place, "2026-01")) == 0
        public = place / "2026-01/public"
        guarantee = json.loads((public / "guarantee.json").read_text())
        assert sum(sentence in each for each in guarantee["assumptions"]) == 1
        for name in ("guarantee.txt", "card.html"):
            assert sentence in (public / name).read_text()
    assert not any("settings of this release" in s for s in _plain_assumptions(office))


def test_a_failure_after_the_charge_says_that_it_stays(office, capsys, monkeypatch):
    def full(path, contents):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("understudy.synthesis.release._write_json", full)
    assert run(arguments(office, "2026-01")) == 2
    told = capsys.readouterr().err
    assert "No space left on device; nothing was released, but entry 1 of the ledger stays" in told
    assert not (office / "2026-01").exists()
    monkeypatch.undo()
    assert run(arguments(office, "2026-01")) == 3
    assert "stays charged" in capsys.readouterr().err


def test_public_files_name_their_period_and_population(office):
    assert run(arguments(office, "2026-01")) == 0
    public = office / "2026-01/public"
    guarantee = json.loads((public / "guarantee.json").read_text())
    assert (guarantee["period"], guarantee["population"]) == ("2026-01", "staff")
    assert "Period: 2026-01" in (public / "guarantee.txt").read_text()
    assert "<h1>Synthetic data of 2026-01: pay</h1>" in (public / "card.html").read_text()
    assert "<h1>2026-01: " in (office / "2026-01/internal/report.html").read_text()


def test_an_existing_directory_is_never_replaced(office, capsys):
    (office / "2026-01").mkdir()
    assert run(arguments(office, "2026-01")) == 2
    told = capsys.readouterr().err
    assert "choose another --out." in told
    assert "--force" not in told


MODEL = """\
import numpyro
import numpyro.distributions as dist
from pathlib import Path

Path({ran!r}).touch()


def staff(pay, n):
    mean = numpyro.sample("mean", dist.Normal(3, 1))
    with numpyro.plate("records", n):
        numpyro.sample("pay", dist.LogNormal(mean, 0.5), obs=pay)
"""


@pytest.fixture
def in_file(office):
    """The office's policy, sealed anew with a model in a file that leaves a trace when it runs."""
    ran = office / "ran"
    file = office / "mine.py"
    file.write_text(MODEL.format(ran=str(ran)))
    policy = replace(
        Policy.load(office / "POLICY.toml"),
        model="mine.py:staff",
        model_digest=hashlib.sha256(file.read_bytes()).hexdigest(),
        anchor=None,
    )
    policy.write(office / "MINE.toml")
    shutil.copy(office / "POLICY.reference.json", office / "MINE.reference.json")
    return file, ran


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["release", "dry-run"])
@pytest.mark.parametrize("named", ["mine.py:staff", "{}:staff", "../office/mine.py:staff"])
def test_a_sealed_policy_runs_nothing(office, in_file, capsys, monkeypatch, named, more):
    """Anybody can seal a policy: its digest is no secret."""
    file, ran = in_file
    monkeypatch.chdir(office)
    evil = replace(Policy.load(office / "MINE.toml"), model=named.format(file))
    evil.write(office / "MINE.toml")
    told = refused(office, capsys, "add --model", "2026-01", *more, policy="MINE.toml")
    assert "path/to/mine.py:staff" in told
    assert not ran.exists()


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["release", "dry-run"])
def test_a_model_file_that_changed_is_refused_before_it_runs(office, in_file, capsys, more):
    file, ran = in_file
    file.write_text(file.read_text() + "# changed\n")
    given = ["--model", f"{file}:staff", *more]
    assert refused(office, capsys, "has changed since", "2026-01", *given, policy="MINE.toml")
    assert not ran.exists()


@pytest.mark.slow
def test_the_model_that_is_named_is_released(office, in_file, monkeypatch):
    _, ran = in_file
    monkeypatch.chdir(office)
    given = ["--model", "mine.py:staff"]
    assert run(arguments(office, "2026-01", *given, "--dry-run", policy="MINE.toml")) == 0
    assert ran.exists()
    assert run(arguments(office, "2026-01", *given, policy="MINE.toml")) == 0
    following = PendingRelease.of("MINE.toml", "2026-02", "ledger.db", model="mine.py:staff")
    assert following.anchor == "θ of period 2026-01"


def test_a_model_that_is_not_the_policy_s_is_refused(office, capsys):
    assert refused(office, capsys, "leave out --model", "2026-01", "--model", "mixture")
    assert run(arguments(office, "2026-01", "--dry-run", "--model", "beta")) == 0
