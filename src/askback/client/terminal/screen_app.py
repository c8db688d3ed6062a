"""Where screens are shown: a full screen, its keys, its redrawing. Knows no question."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import anyio
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Layout, UIContent, Window

from askback.client.terminal.layout import Page, Scroll, Size, lay_out
from askback.client.terminal.tty import Tty

QUIET_SECONDS = 0.5
"""No person reads a question faster than this: keys that come earlier were meant for something else. A key that is held
down begins to repeat within it."""


class KeyGuard:
    """Shut when a screen is drawn; opens after a quiet moment, which a key begins again."""

    def __init__(self, clock: Callable[[], float], *, quiet: float = QUIET_SECONDS) -> None:
        self._clock, self._quiet = clock, quiet
        self._since: float | None = None
        self.turned_away = False
        """Whether a key was ignored since the guard was last shut; the person is told."""

    def shut(self) -> None:
        """Another screen is about to be drawn."""
        self._since = None
        self.turned_away = False

    def note_drawn(self) -> None:
        """It is on the screen: from now on it can have been seen."""
        if self._since is None:
            self._since = self._clock()

    def is_open(self) -> bool:
        """Whether keys count by now."""
        return self.remaining() == 0

    def remaining(self) -> float:
        """Seconds until it opens, if nothing is pressed."""
        since = self._clock() if self._since is None else self._since
        return max(0.0, since + self._quiet - self._clock())

    def turn_away(self) -> None:
        """A key came while the guard was shut: the quiet moment begins again."""
        self.turned_away = True
        if self._since is not None:
            self._since = self._clock()


T = TypeVar("T")

KEYS = (
    *("tab", "s-tab", "enter", "c-j", "up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
    *("c-c", "c-d", "c-n", "c-o", "c-r", "c-x", "escape", "space", "backspace", "delete"),
)
"""Those that a scene can want; the rest edits text. None of them is taken by a window or a multiplexer by default."""

SAME_AS = {"c-j": "enter"}
"""What some terminals send for the same key."""

ESCAPE_SECONDS = 0.1
"""How long a lone Esc waits to become the beginning of another key."""

A_LITTLE_LATER = 0.02
"""So that the guard is surely open when the screen is drawn once more."""


@dataclass(frozen=True, slots=True)
class LeaveScreen(Generic[T]):
    """The last scene is over."""

    value: T


class BaseScreen(ABC, Generic[T]):
    """What is on the screen and what keys do there. A key leads on: to another scene, out, or nowhere."""

    buffer: Buffer | None = None
    """Where typed text goes."""

    is_new = True
    """Whether it still has to be read; keys count at once on a screen that somebody comes back to."""

    def __init__(self) -> None:
        self.scroll = Scroll()

    @abstractmethod
    def page(self, size: Size) -> Page: ...

    @abstractmethod
    def wants(self, key: str) -> bool:
        """Whether this key is the scene's; otherwise it edits the text in the buffer."""

    @abstractmethod
    def press(self, key: str) -> "BaseScreen[T] | LeaveScreen[T] | None": ...

    @abstractmethod
    def at_end(self) -> T:
        """What it is left with when the terminal is closed."""

    def paste(self, text: str) -> None:
        """Text from the clipboard, its line ends already made plain."""
        if self.buffer is not None:
            self.buffer.insert_text(text)

    def on_change(self) -> "BaseScreen[T] | LeaveScreen[T] | None":
        """Something outside has changed; leads on like a key."""
        return None


class Canvas(BufferControl):
    """Draws the whole scene; being a buffer's control, it lets the usual editing keys reach the field in focus."""

    def __init__(self, draw: Callable[[Size], tuple[list[Any], tuple[int, int] | None]]) -> None:
        super().__init__()
        self._draw = draw

    def create_content(self, width: int, height: int, preview_search: bool = False) -> UIContent:
        rows, cursor = self._draw(Size(columns=width, rows=height))
        point = Point(x=cursor[1], y=cursor[0]) if cursor else Point(x=0, y=0)
        return UIContent(lambda row: rows[row], len(rows), cursor_position=point, show_cursor=bool(cursor))

    def preferred_height(self, *_: Any, **__: Any) -> int | None:
        """As high as the screen; nothing is drawn only to be measured."""
        return None


class ScreenApp(Generic[T]):
    """Plays scenes until one is left: on a screen of their own, or on the last `rows` of the ordinary one."""

    def __init__(self, tty: Tty, guard: KeyGuard, scene: BaseScreen[T], *, rows: int | None = None) -> None:
        self._tty, self._guard, self._scene = tty, guard, scene
        self._seen = anyio.Event()
        self._canvas = Canvas(self._draw)
        self._application: Application[T] = Application(
            layout=Layout(Window(self._canvas, height=rows)),
            key_bindings=self._bindings(),
            input=tty.input,
            output=tty.output,
            full_screen=rows is None,
            erase_when_done=True,
            after_render=self._note_drawn,
        )
        self._application.ttimeoutlen = ESCAPE_SECONDS
        self._application.timeoutlen = ESCAPE_SECONDS

    async def play(self, *changes: Callable[[], Awaitable[Any]]) -> T:
        """Returns what the last scene was left with. `changes` return whenever something outside has changed."""
        first = self._scene
        self._go_on(first)
        self._tty.forget_pending()
        clear_typeahead(self._tty.input)  # keys that the last screen read and did not use
        left: list[T] = []
        async with anyio.create_task_group() as group:
            for change in changes:
                group.start_soon(self._watch, change)
            left.append(await self._run(first))
            group.cancel_scope.cancel()
        return left[0]

    async def say(self, *lines: str) -> None:
        """Above the rows that are played on, where it stays."""
        with set_app(self._application):
            await run_in_terminal(lambda: self._tty.say(*lines))

    async def _run(self, scene: BaseScreen[T]) -> T:
        running = asyncio.ensure_future(
            self._application.run_async(handle_sigint=False, set_exception_handler=False)
        )
        try:
            await asyncio.wait({running})
        finally:
            if not running.done():
                running.cancel()
                with anyio.CancelScope(shield=True):  # the terminal is put back before anything else goes on
                    await asyncio.wait({running})
        try:
            return running.result()
        except (
            EOFError,
            OSError,
        ):  # the terminal was closed: nothing comes from it, and nothing can be drawn
            return scene.at_end()

    async def _watch(self, change: Callable[[], Awaitable[Any]]) -> None:
        await self._seen.wait()
        while True:
            self._act(lambda scene: scene.on_change())
            self._application.invalidate()
            await change()

    def _draw(self, size: Size) -> tuple[list[Any], tuple[int, int] | None]:
        page = self._scene.page(size)
        if not self._guard.is_open():
            early = "Keys pressed before this was shown do not count."
            page = replace(page, status=(early if self._guard.turned_away else "A moment …",))
        rows, cursor = lay_out(page, size, self._scene.scroll)
        return [self._tty.spell(row) for row in rows], cursor

    def _note_drawn(self, application: Application[T]) -> None:
        self._seen.set()
        self._guard.note_drawn()
        if not self._guard.is_open():
            loop = asyncio.get_running_loop()
            loop.call_later(self._guard.remaining() + A_LITTLE_LATER, application.invalidate)

    def _go_on(self, scene: BaseScreen[T]) -> None:
        self._scene = scene
        if scene.is_new:
            self._guard.shut()
        self._follow()

    def _follow(self) -> None:
        """Typed text goes where the scene wants it now."""
        self._canvas.buffer = Buffer() if self._scene.buffer is None else self._scene.buffer

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()
        is_early = Condition(lambda: not self._guard.is_open())
        keys.add(Keys.Any, filter=is_early, eager=True)(_calling(self._guard.turn_away))
        # A person who wants out gets out, however often they press: it gives nothing away.
        keys.add("c-c", eager=True)(self._pressing("c-c"))
        for key in KEYS:
            keys.add(key, filter=self._wanted(key))(self._pressing(key))
        keys.add(Keys.BracketedPaste)(self._paste)
        keys.add("c-z")(_calling(lambda: self._application.suspend_to_background()))
        has_no_box = Condition(lambda: self._scene.buffer is None)
        keys.add(Keys.Any, filter=has_no_box)(_calling(lambda: None))  # a letter where nothing is typed
        return keys

    def _wanted(self, key: str) -> Condition:
        return Condition(lambda: self._scene.wants(SAME_AS.get(key, key)))

    def _pressing(self, key: str) -> Callable[[KeyPressEvent], None]:
        return _calling(lambda: self._act(lambda scene: scene.press(SAME_AS.get(key, key))))

    def _paste(self, event: KeyPressEvent) -> None:
        self._scene.paste(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    def _act(self, action: "Callable[[BaseScreen[T]], BaseScreen[T] | LeaveScreen[T] | None]") -> None:
        if not self._application.is_running or self._application.is_done:
            return
        match action(self._scene):
            case LeaveScreen(value):
                self._application.exit(result=value)
            case BaseScreen() as scene:
                self._go_on(scene)
            case None:
                self._follow()


def _calling(act: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    """A handler of keys that needs nothing of the event."""
    return lambda _: act()
