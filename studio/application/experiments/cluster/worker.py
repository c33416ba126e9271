"""Pack an experiment's prompts, tools and files into one zip for workers, without secrets.

The zip is named by its hash, so the same experiment is sent only once. It contains references to
keys (`${env:NAME}`, `keyring`), which a worker looks up on its own machine.
"""

import asyncio
import hashlib
import io
import json
import os
import threading
import zipfile
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from studio import __version__
from studio.application.experiments.asked_cell import AskedCell
from studio.application.experiments.asking import Asker
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.experiments.turns import LeasedCell
from studio.application.trust import references_of
from studio.application.words import tr
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.values import ExperimentCase, ExperimentRow, VariantEntry
from studio.core.export.bundle import bundle_files, write_zip
from studio.core.export.target import ExportSource
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connections, connections_text, read_connections
from studio.core.models.remote.faults import LearnedRefusal
from studio.core.models.secrets import KEYRING, environment_name, secret_store
from studio.core.prompty.document import ModelDeclaration
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import find_references
from studio.core.text.amounts import size
from studio.core.text.files import read_bounded, read_text
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json
from studio.core.tools.trust.store import TrustStore

PLAN = "plan.json"
_MEDIA_KINDS = ("image", "file", "audio", "video")
_MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class WorkBundle:
    """An experiment packed for workers."""

    data: bytes
    """Content of the zip; the same experiment gives the same bytes."""

    digest: str
    """SHA-256 of the zip, as hex."""

    variables: tuple[str, ...]
    """Environment variables that a worker must have."""

    key_owners: tuple[str, ...]
    """Connections whose key a worker must have in its key store."""

    left_out: tuple[str, ...]
    """Referenced files that are not included, one sentence each."""


def make_bundle(plan: ExperimentPlan, services: ExperimentServices) -> WorkBundle:
    """Pack everything that the cells of a plan read, except rows, which are sent with the cells.

    Raises:
        ExperimentError: the bundle is too large.
        ValueError: a connection contains a key instead of a reference.
    """
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    root = _root(plan)
    for variant in plan.variants:
        for name, content in _files_of(variant, plan, services, left_out):
            path = (_folder_of(variant, plan) / name).resolve()
            files[path.relative_to(root).as_posix()] = content
    for path in _media(plan):
        files[path.relative_to(root).as_posix()] = read_bounded(path)
    for name in _named_in(plan.file.mocks):
        path = plan.folder.find(name)
        if path.is_relative_to(root):
            files[path.relative_to(root).as_posix()] = read_bounded(path)
    packed = {f"files/{name}": content for name, content in files.items()}
    for at, variant in enumerate(plan.variants):
        if variant.choice is not None:
            text = connections_text(_alone(variant.choice))
            packed[f"connections/{at}.toml"] = text.encode()
    stated = _stated(plan, services, root)
    packed[PLAN] = json.dumps(stated, ensure_ascii=False, sort_keys=True).encode("utf-8")
    if sum(map(len, packed.values())) > _MOST_BYTES:
        raise ExperimentError(
            tr("The files of the experiment are larger than {size}, too large for workers.").format(
                size=size(_MOST_BYTES)
            )
        )
    data = write_zip(packed)
    variables, owners = _names(plan)
    return WorkBundle(
        data, hashlib.sha256(data).hexdigest(), variables, owners, tuple(dict.fromkeys(left_out))
    )


def read_bundle(folder: Path) -> tuple[ExperimentPlan, ExperimentServices]:
    """Return the plan in an unpacked bundle, with services for this machine.

    Args:
        folder: folder of the unpacked zip, which also stores the trust.
    """
    stated: Any = parse_json(read_text(folder / PLAN))
    root = folder / "files"
    trust = TrustStore(folder / "trust.json")
    for name in stated["trusted"]:
        (root / name).mkdir(parents=True, exist_ok=True)
        trust.trust(root / name)
    path = root / stated["folder"] / stated["name"]
    file = read_experiment(stated["experiment"], path)
    file = replace(file, options=replace(file.options, concurrency=stated["concurrency"]))
    variants = []
    for at, each in enumerate(stated["variants"]):
        document = parse(each["text"], (root / each["path"]).resolve())
        document = replace(document, model=replace(document.model, options=each["options"]))
        choice = _choice(folder / "connections" / f"{at}.toml", each["model"])
        variants.append(
            PlannedVariant(each["name"], file.variants[each["entry"]], document, choice)
        )
    row = ExperimentRow("first", ExperimentCase(stated["first"]), 1)
    values = {(at, 1): each["first"] for at, each in enumerate(stated["variants"])}
    plan = ExperimentPlan(file, Folder(path, trust), tuple(variants), (row,), 1, values=values)
    services = ExperimentServices(
        trust,
        Connections(()),
        secret_store(),
        allow_tools=stated["allow_tools"],
        allowed=tuple(stated["allowed"]),
        approve=stated["approve"],
    )
    return plan, services


def _entry_at(plan: ExperimentPlan, entry: VariantEntry) -> int:
    """Return the index of a variant's entry in the file; an entry may have several variants."""
    prompts = [each.prompt for each in plan.file.variants]
    found = plan.file.variants
    return found.index(entry) if entry in found else prompts.index(entry.prompt)


def _stated(plan: ExperimentPlan, services: ExperimentServices, root: Path) -> JsonDict:
    folders = {plan.folder.path, *(_folder_of(each, plan) for each in plan.variants)}
    variants: list[Json] = []
    for at, each in enumerate(plan.variants):
        path = each.document.source.path or plan.folder.path / f"{at}.prompty"
        declared = each.choice.declaration if each.choice is not None else each.document.model
        variants.append(
            {
                "name": each.name,
                "entry": _entry_at(plan, each.entry),
                "text": each.document.source.text,
                "path": path.resolve().relative_to(root).as_posix(),
                "options": dict(each.document.model.options),
                "first": dict(plan.first_values(at)),
                "model": {
                    "id": declared.id,
                    "provider": declared.provider,
                    "api_type": declared.api_type,
                    "options": dict(declared.options),
                },
            }
        )
    return {
        "version": __version__,
        "experiment": plan.file.source.text,
        "folder": plan.folder.path.relative_to(root).as_posix(),
        "name": plan.file.path.name if plan.file.path is not None else "x.experiment.yaml",
        "trusted": sorted(
            each.relative_to(root).as_posix() for each in folders if services.trust.is_trusted(each)
        ),
        "concurrency": plan.options.concurrency,
        "allow_tools": services.allow_tools,
        "allowed": list(services.allowed),
        "approve": services.approve,
        "first": dict(plan.rows[0].case.variables),
        "variants": variants,
    }


def _root(plan: ExperimentPlan) -> Path:
    """Return the folder of all files named relative to the experiment and its prompts."""
    folders = [plan.folder.path, *(_folder_of(each, plan) for each in plan.variants)]
    return Path(os.path.commonpath(folders))


def _folder_of(variant: PlannedVariant, plan: ExperimentPlan) -> Path:
    path = variant.document.source.path
    return path.resolve().parent if path is not None else plan.folder.path


def _files_of(
    variant: PlannedVariant, plan: ExperimentPlan, services: ExperimentServices, left_out: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files in a variant's prompt, with their names relative to the prompt."""
    at = plan.variants.index(variant)
    references = references_of(
        variant.document.source.path, services.trust, masker=services.secrets.masker
    )
    values = plan.first_values(at)
    source = ExportSource(variant.document, values, references=references)
    files, losses = bundle_files(source)
    left_out += losses
    path = variant.document.source.path
    # The prompt's text is in the plan, since a variant may be an earlier revision or edited.
    yield from (each for each in files.items() if path is None or each[0] != path.name)


def _media(plan: ExperimentPlan) -> Iterator[Path]:
    """Yield the local images and files in the rows' values."""
    for at, variant in enumerate(plan.variants):
        names = [each.name for each in variant.document.inputs if each.kind in _MEDIA_KINDS]
        folder = _folder_of(variant, plan)
        for row in plan.rows if names else ():
            for name in names:
                value = plan.values_of(at, row).get(name)
                if isinstance(value, str) and len(value) < 1000 and "\n" not in value:
                    path = (folder / value).resolve()
                    if path.is_relative_to(folder) and path.is_file():
                        yield path


def _named_in(stated: JsonObject) -> Iterator[str]:
    for value in stated.values():
        if isinstance(value, str) and value.startswith("file://"):
            yield value.removeprefix("file://")


def _names(plan: ExperimentPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the variables and the owners of keys that the cells need."""
    variables: list[str] = []
    owners: list[str] = []
    for each in plan.variants:
        if each.choice is not None:
            key = each.choice.connection.key
            variable = environment_name(key)
            variables += [variable] if variable is not None else []
            owners += [each.choice.connection.name] if key == KEYRING else []
        if plan.folder.trusted:
            found = find_references(each.document.source.text)
            variables += [
                ref.argument
                for ref in found
                if ref.protocol == "env" and ref.argument.isidentifier()
            ]
    return tuple(dict.fromkeys(variables)), tuple(dict.fromkeys(owners))


def _alone(choice: ModelChoice) -> Connections:
    return Connections((choice.connection,), choice.connection.name)


def _choice(path: Path, model: JsonObject) -> ModelChoice | None:
    """Return the connection and model of a variant; None for `echo`."""
    if not path.exists():
        return None
    connections = read_connections(path)
    options = model["options"]
    declared = ModelDeclaration(
        str(model["id"]),
        str(model["provider"]),
        str(model["api_type"]),
        options=options if isinstance(options, dict) else {},
    )
    return ModelChoice(connections.default_connection, declared, "the experiment's")


# One worker of an experiment: a thread with an event loop, in which its cells run.

T = TypeVar("T")


class CellWorker:
    """A runner of cells of one bundle; created once in each worker process."""

    def __init__(self, folder: Path, data: bytes, sharers: int = 1) -> None:
        """Unpack the bundle and start the loop; models are opened with the first cells.

        Args:
            folder: an empty folder for this worker.
            data: content of the zip.
            sharers: number of workers of this run on this machine.

        Raises:
            ValueError: the zip contains a path outside the folder.
        """
        _unpack(data, folder)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cells", daemon=True)
        self._thread.start()
        self._values: dict[tuple[int, int], JsonObject] = {}
        self._numbers = count(2)  # 1 is the row with which the tools are opened
        self._asker = self._on_loop(self._made(folder, sharers)).result()
        self._opened: asyncio.Task[None] | None = None
        self._seen: dict[str, int] = {}

    def ask(self, cells: Sequence[JsonObject], shares: Mapping[str, float]) -> list[Any]:
        """Run cells in parallel; called in a thread of the worker.

        Args:
            cells: cells from `encode_cell`.
            shares: maximum number of parallel requests per connection here.

        Returns:
            An object for each cell, and one with the rejected requests by connection.

        Raises:
            ModelError: a connection is incomplete on this machine.
            ToolSourceError: the tools cannot be started on this machine.
        """
        return self._on_loop(self._ask(cells, shares)).result()

    def close(self) -> None:
        """Close models and tools, and end the thread."""
        self._on_loop(self._asker.close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _on_loop(self, going: Coroutine[object, object, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(going, self._loop)

    async def _made(self, folder: Path, sharers: int) -> Asker:
        plan, services = read_bundle(folder)
        self._values.update(plan.values)
        return Asker(replace(plan, values=self._values), replace(services, sharers=sharers))

    async def _ask(self, cells: Sequence[JsonObject], shares: Mapping[str, float]) -> list[Any]:
        if self._opened is None:
            self._opened = asyncio.create_task(self._asker.open())
        try:
            await self._opened
        except BaseException:
            self._opened = None
            raise
        for name, share in shares.items():
            self._asker.limiter(name).bound(share)
        asked = await asyncio.gather(*(self._cell(each) for each in cells))
        refused = {name: self._asker.limiter(name).refused for name in shares}
        new = {name: count - self._seen.get(name, 0) for name, count in refused.items()}
        self._seen = refused
        return [asked, new]

    async def _cell(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        case = ExperimentCase(cell["variables"], options=cell["options"])
        place = cell["variant"], next(self._numbers)  # rows arrive in any order, possibly twice
        self._values[place] = cell["values"]
        try:
            leased = LeasedCell(CellKey(1, place[1], place[0]), b"")
            asked = await self._asker.ask(leased, ExperimentRow("", case, place[1]))
            return encode_asked(replace(asked, learned=self._asker.refusals_of(place[0])))
        finally:
            del self._values[place]


async def missing_names(variables: Sequence[str], owners: Sequence[str]) -> list[str]:
    """Return which variables and keys this machine lacks; values are not returned."""
    lacking = [name for name in variables if not os.environ.get(name, "").strip()]
    store = secret_store()
    for name in owners:
        if not (await store.read(KEYRING, name)).secret:
            lacking.append(f"the key of {name}")
    return lacking


def encode_cell(variant: int, row: ExperimentRow, values: JsonObject) -> JsonDict:
    """Encode a cell for a worker: everything that its request needs, without assertions."""
    case = row.case
    return {
        "variant": variant,
        "values": dict(values),
        "variables": dict(case.variables),
        "options": dict(case.options),
    }


def encode_asked(asked: AskedCell) -> dict[str, Any]:
    """Encode the outcome of a cell as JSON."""
    return {**asdict(asked), "journal": asked.journal.decode("utf-8", "surrogatepass")}


def decode_asked(found: Mapping[str, Any]) -> AskedCell:
    """Decode the outcome of a cell from a worker."""
    answer = found["answer"]
    if answer is not None:
        calls = tuple(MadeCall(**each) for each in answer["calls"])
        answer = CellAnswer(**{**answer, "calls": calls, "left_out": tuple(answer["left_out"])})
    journal = found["journal"].encode("utf-8", "surrogatepass")
    learned = tuple(LearnedRefusal(**each) for each in found["learned"])
    return AskedCell(**{**found, "answer": answer, "journal": journal, "learned": learned})


def _unpack(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or "\\" in name:
                raise ValueError(f"the bundle names {name!r}, outside of its folder")
        archive.extractall(folder)
