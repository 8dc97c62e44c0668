"""Records are what dataclasses would be, made when they are first needed."""

from __future__ import annotations

import pickle

import pytest

from sparkconfig._base.record import Record, field


class Point(Record):
    x: int
    y: int = 2
    values: list[int] = field(default_factory=list, compare=False)


class Named(Point, frozen=False):
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.name.upper()


def test_fields_are_given_by_place_and_name_and_have_defaults() -> None:
    assert (Point(1).x, Point(1).y, Point(1).values) == (1, 2, [])
    assert (Named(1, name="a").name, Named(1, 3).y) == ("A", 3)
    first, second = Point(1), Point(1)
    first.values.append(7)
    assert second.values == []


@pytest.mark.parametrize("wrong", [Point, lambda: Point(1, z=2), lambda: Point(1, 2, [], 3)])
def test_a_wrong_call_is_refused(wrong) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_what_is_compared_and_hashed() -> None:
    assert Point(1) == Point(1, 2, [3])
    assert hash(Point(1)) == hash(Point(1, 2, [3]))
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert Point(1) != (1, 2)


def test_a_record_is_read_only_unless_it_says_otherwise() -> None:
    attribute = "x"
    with pytest.raises(AttributeError, match=r"Point\.x is read-only"):
        setattr(Point(1), attribute, 2)
    named = Named(1)
    named.x = 2
    assert named.x == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(named)


def test_another_one_with_other_values() -> None:
    assert Point(1)._replace(y=5) == Point(1, 5)
    with pytest.raises(TypeError):
        Point(1)._replace(z=5)


def test_a_record_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 5))) == Point(1, 5)


def test_repr_shows_no_field() -> None:
    assert "Canary" not in repr(Named(1, name="Canary-1"))


def test_a_class_with_a_start_of_its_own() -> None:
    class Own(Point):
        def __init__(self) -> None:
            super().__init__(4)

    assert (Own().x, Own().x, Point(1).x) == (4, 4, 1)
