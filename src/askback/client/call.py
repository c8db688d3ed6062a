"""One call under way: its questions, its time, and how it ends. Also the tasks in which people answer."""

from collections.abc import Awaitable, Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.abc
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from askback.answers import Answer, Cancelled
from askback.client.labels import GONE, GONE_ENDED, GONE_WITHDRAWN
from askback.client.limits import Backoff, QuestionLimits, QuestionTally, Sleep, WorkTimer
from askback.client.person import OnAnswer, Turn
from askback.client.rounds import CallStrategy, run_rounds
from askback.errors import Unfinished
from askback.protocol.client.dispatcher import is_lost

Put = Callable[[Turn, QuestionTally], Awaitable[Answer[Any]]]


class OpenQuestion:
    """A question that is with a person, in a task that outlives the request which brought it."""

    def __init__(self, turn: Turn, owners: Iterable["ClientCall"]) -> None:
        self.turn = turn
        self.owners = set(owners)
        """The calls it may belong to: on the push era, the wire does not say which of several asks."""
        self.left = anyio.Event()
        self._scope = anyio.CancelScope()
        self._outcome: Answer[Any] | Exception = Cancelled()
        """Cancelled, should the caller give up."""

    async def run(self, put: Put, tally: QuestionTally) -> None:
        try:
            with self._scope:
                self._outcome = await put(self.turn, tally)
        except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
            self._outcome = error
        finally:
            self.left.set()

    def outcome(self) -> Answer[Any]:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def abandon(self) -> None:
        """The caller has given up: whatever the person sees goes away."""
        self._scope.cancel()


class ClientCall:
    """A tools/call, prompts/get or resources/read from its first request to its end."""

    def __init__(
        self,
        purpose: str,
        *,
        watch: WorkTimer,
        limits: QuestionLimits,
        way: CallStrategy = run_rounds,
        progress: ProgressFnT | None = None,
        noted: OnAnswer | None = None,
        only_looks: bool = False,
    ) -> None:
        self.purpose, self.watch, self.way = purpose, watch, way
        self.noted: OnAnswer = noted or (lambda _: None)
        self.only_looks = only_looks
        """Whether it may be made again without a thought: it changes nothing."""
        self.is_left_at_questions = way is not run_rounds
        self.tally, self.pauses = QuestionTally(limits), Backoff()
        self.turn = anyio.Lock()
        """The questions of one call are put one after another, also to a person who shows several."""
        self.consented: set[str] = set()
        """Links that the person has opened in this call."""
        self._progress = progress
        self.is_over = False
        """Whether the server has ended it, or we have; a person may still be leaving a question of it."""
        self._hosted: set[OpenQuestion] = set()
        self._is_cut_off = False
        self._working, self._leaving = anyio.CancelScope(), anyio.CancelScope()
        """Apart: whatever ends the wait for a person who leaves takes no result away."""
        self.failure: Exception | None = None
        """What went wrong on our own side: with the person, or with a callback."""

    async def ask(
        self,
        turn: Turn,
        put: Put,
        tasks: anyio.abc.TaskGroup,
        *,
        withdrawn: anyio.Event | None = None,
        beside: Collection["ClientCall"] = (),
    ) -> Answer[Any]:
        """Let the person answer. If whoever waits is cut off, the person stays until they leave."""
        if self._is_cut_off:
            turn.withdraw(GONE)
            return Cancelled()
        hosted = OpenQuestion(turn, (self, *beside))
        for call in hosted.owners:
            call._hosted.add(hosted)
        with self.watch.person():
            tasks.start_soon(self._host, hosted, put)
            try:
                await hosted.left.wait()
            except anyio.get_cancelled_exc_class():
                turn.withdraw(GONE_WITHDRAWN if withdrawn is not None and withdrawn.is_set() else GONE)
                raise
        with self.on_our_side():
            return hosted.outcome()

    @contextmanager
    def on_our_side(self) -> Generator[None]:
        """What fails in here is no mistake of the server."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise

    async def _host(self, hosted: OpenQuestion, put: Put) -> None:
        # The watch is held here as well: the one who asks may be cut off while the person is still there.
        with self.watch.person():
            await hosted.run(put, self.tally)
        for call in hosted.owners:
            call._hosted.discard(hosted)

    async def run(self, work: Callable[[], Awaitable[Any]], *, limit: float | None) -> Any:
        """What `work` gives, or why it was not waited for. Either is kept while a person leaves their question."""
        why = GONE_ENDED
        try:
            return await self._in_time(work, limit)
        except MCPError as error:
            why = GONE if is_lost(error) else GONE_ENDED
            raise
        finally:
            self.is_over, self.watch.changed = True, lambda: None
            with self._leaving:
                await self._left_alone(why)

    async def _in_time(self, work: Callable[[], Awaitable[Any]], limit: float | None) -> Any:
        """Until the server has had its time, the caller's `limit` is over, or the call has failed."""
        self.watch.changed = self._arm
        self._arm()
        with anyio.move_on_after(limit) as allowed:
            self._leaving.deadline = allowed.deadline
            with self._working:
                return await work()
            self.abandon()
            raise self._ended()
        raise Unfinished(call=self.purpose, problem=f"it was to take {limit:g} seconds at most, all told")

    async def _left_alone(self, why: str) -> None:
        """Until no question of this call is before a person any more; one may still be there that came too late."""
        late = self._disowned()
        for hosted in late:
            hosted.turn.withdraw(why)
        try:
            for hosted in late:
                await hosted.left.wait()
        finally:
            for hosted in late:
                hosted.abandon()

    def _disowned(self) -> list[OpenQuestion]:
        """Let go of all questions; those that are now nobody's."""
        let_go, self._hosted = self._hosted, set()
        for hosted in let_go:
            hosted.owners.discard(self)
        return [hosted for hosted in let_go if not hosted.owners]

    def fail(self, failure: Exception) -> None:
        """End the call with this."""
        self.failure = self.failure or failure
        self._working.cancel()
        self._leaving.cancel()

    async def again(self, sleep: Sleep, has_asked: bool) -> None:
        """Before the next round: at once after an answer, and later and later after a mere "not yet"."""
        if has_asked:
            self.pauses.reset()
        else:
            await sleep(self.pauses.next())
        if self.watch.left() <= 0:
            raise self._ended()

    def abandon(self) -> None:
        """Nobody wants these answers any more: whatever the person sees of them goes away."""
        for hosted in self._disowned():
            hosted.abandon()

    def withdraw_all(self) -> None:
        """The connection is gone: nobody waits for these answers, nor for those to what was still to be asked."""
        self._is_cut_off = True
        for hosted in self._hosted:
            hosted.turn.withdraw(GONE)

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.watch.touch()
        if self._progress is not None:
            await self._progress(progress, total, message)

    def _ended(self) -> Exception:
        return self.failure or Unfinished(
            call=self.purpose,
            problem="the server neither finished, nor asked, nor told of progress in its time",
        )

    def _arm(self) -> None:
        self._working.deadline = anyio.current_time() + self.watch.left()
