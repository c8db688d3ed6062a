"""Whoever runs a round is cancelled: a copy takes over, unless an effect was under way."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from askback import ask, once
from askback.errors import EffectFailed
from askback.stores import Store
from tests.runtime.once.kitchen import POINTS, Kitchen, Point, until_cut
from tests.runtime.once.servers import Host, Kind, serve
from tests.support.clock import Clock
from tests.support.deliveries import INTERRUPTED, REFUSED, End, end_of, ends_of, text_of
from tests.support.raw import accepting, answering, raw_client
from tests.support.raw_http import Posting
from tests.support.servers.http import served

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]

YES = accepting(value=True)


def is_allowed(point: Point, end: End) -> bool:
    """What a copy may read, by where the run before it ended."""
    if point == "during":
        return INTERRUPTED.format("bake") in text_of(end)
    return text_of(end) == "here is pizza 1"


@pytest.mark.parametrize("point", POINTS)
async def test_after_a_cancelled_run_a_copy_takes_over_and_the_effect_is_not_run_twice(
    point: Point, every_host: Host, kind: Kind, store: Store
):
    kitchen = Kitchen(point)
    async with raw_client(serve(every_host, kitchen.body, store=store)) as client:
        first = await kind.deliver(client)

        async def deliver() -> End:
            return await kind.deliver(client, **answering(first, ask_1=YES))

        await until_cut(kitchen, deliver)
        ends = [await end_of(deliver()) for _ in range(2)]
    assert kitchen.baked == ["pizza"]
    assert is_allowed(point, ends[0]) and ends[0] == ends[1], ends


@pytest.mark.parametrize("point", POINTS)
async def test_copies_that_waited_for_the_cancelled_run_go_on_without_it(
    point: Point, host: Host, store: Store
):
    kitchen = Kitchen(point)
    async with raw_client(serve(host, kitchen.body, store=store)) as client:
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        ends: list[End] = []

        async def wait() -> None:
            await kitchen.reached.wait()
            ends.extend(await ends_of([deliver() for _ in range(10)]))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as copies:
                copies.start_soon(wait)
                await until_cut(kitchen, deliver)
    assert kitchen.baked == ["pizza"]
    assert len(ends) == 10 and all(is_allowed(point, end) for end in ends), ends


@pytest.mark.parametrize("point", POINTS)
async def test_other_answers_after_a_cancelled_run_are_taken_only_where_nothing_was_begun(
    point: Point, host: Host, store: Store
):
    kitchen = Kitchen(point)
    async with raw_client(serve(host, kitchen.body, store=store)) as client:
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        await until_cut(kitchen, deliver)
        other = await end_of(client.call(**answering(first, ask_1=accepting(value=False))))
    assert kitchen.baked == ["pizza"]
    assert text_of(other) == "here is pizza 1" if point == "before" else other == REFUSED


@pytest.mark.parametrize("point", POINTS)
async def test_a_client_that_hangs_up_is_a_cancelled_run_too(point: Point, host: Host, store: Store):
    kitchen = Kitchen(point)
    ended = anyio.Event()

    async def body() -> str:
        try:
            return await kitchen.body()
        except anyio.get_cancelled_exc_class():
            ended.set()
            raise

    async with served(serve(host, body, store=store)) as url:
        client = Posting(url, {})
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        await until_cut(kitchen, deliver)
        with anyio.fail_after(30):
            await ended.wait()
        ends = await ends_of([deliver() for _ in range(3)])
    assert kitchen.baked == ["pizza"]
    assert all(is_allowed(point, end) for end in ends), ends


async def test_an_effect_that_was_cut_short_can_be_told_apart_by_the_author(host: Host, store: Store):
    kitchen = Kitchen("during")

    async def body() -> str:
        await ask("Hungry?", bool)
        try:
            return await once("bake", kitchen.bake)
        except EffectFailed as error:
            return f"{error.kind}: {error.text}"

    async with raw_client(serve(host, body, store=store)) as client:
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        await until_cut(kitchen, deliver)
        end = await end_of(deliver())
    assert text_of(end) == "Interrupted: It was begun, and cut short before it ended."


async def test_what_an_earlier_round_did_is_not_done_again_by_who_takes_over(host: Host, store: Store):
    kitchen, paid = Kitchen("before"), list[int]()

    async def body() -> str:
        await ask("Pay?", bool)
        await once("pay", paid.append, 1)
        return await kitchen.body()

    async with raw_client(serve(host, body, store=store)) as client:
        first = await client.call()
        second = await client.call(**answering(first, ask_1=YES))

        async def deliver() -> End:
            return await client.call(**answering(second, ask_2=YES))

        await until_cut(kitchen, deliver)
        end = await end_of(deliver())
    assert text_of(end) == "here is pizza 1"
    assert (paid, kitchen.baked) == ([1], ["pizza"])


async def test_taking_over_can_itself_be_cancelled_any_number_of_times(host: Host, store: Store):
    runs = list[str]()
    here: list[anyio.Event] = []

    async def body() -> str:
        await ask("Hungry?", bool)
        await once("bake", runs.append, "baked")
        here[-1].set()
        await anyio.sleep_forever()
        return "never"

    async with raw_client(serve(host, body, store=store)) as client:
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        for _ in range(5):
            here.append(anyio.Event())
            with anyio.fail_after(30):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(deliver)
                    await here[-1].wait()
                    tasks.cancel_scope.cancel()
    assert runs == ["baked"]
    assert await store.count() == 1


@pytest.mark.parametrize("count", [1, 5])
async def test_a_copy_that_gives_up_waiting_takes_nothing_from_the_others(
    count: int, host: Host, store: Store
):
    kitchen = Kitchen("during")
    async with raw_client(serve(host, kitchen.body, store=store)) as client:
        first = await client.call()
        ends: list[End] = []

        async def deliver() -> None:
            ends.append(await client.call(**answering(first, ask_1=YES)))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(deliver)
                await kitchen.reached.wait()
                tasks.start_soon(deliver)
                await give_up(deliver, count)
                kitchen.go_on.set()
    assert [text_of(end) for end in ends] == ["here is pizza 1"] * 2
    assert kitchen.baked == ["pizza"]


async def give_up(deliver: Callable[[], Coroutine[Any, Any, None]], count: int) -> None:
    async with anyio.create_task_group() as impatient:
        for _ in range(count):
            impatient.start_soon(deliver)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        impatient.cancel_scope.cancel()


async def test_an_answer_that_came_in_time_is_in_time_for_who_takes_over_later(host: Host):
    """Else the person would read that nobody answered, after the effect, and be told to call again."""
    kitchen, clock = Kitchen("after"), Clock()

    async def body() -> str:
        await ask("Hungry?", bool, timeout=60)
        pizza = await once("bake", kitchen.bake)
        await kitchen.pass_by("after")
        return f"here is {pizza}"

    async with raw_client(serve(host, body, clock=clock)) as client:
        first = await client.call()
        clock.now += 59

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=YES))

        await until_cut(kitchen, deliver)
        clock.now += 2
        end = await end_of(deliver())
    assert text_of(end) == "here is pizza 1"
    assert kitchen.baked == ["pizza"]
