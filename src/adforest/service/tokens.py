"""Bearer tokens and what they allow: kept as digests in a file that its owner alone can read.

A token is 256 random bits, so that one digest of it is enough: nobody guesses it, and there is no password to find.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from adforest.storage.atomic import write_atomically

PREDICT, LABEL, LEARN, ADMIN = RIGHTS = ("predict", "label", "learn", "admin")
FILE = ".adforest-tokens.json"
PREFIX = "adf_"


@dataclass(frozen=True)
class Token:
    """Entry of a token in the file.

    Attributes
    ----------
    name : str
        Name of its holder in the audit log.
    digest : str
        SHA-256 of the token.
    rights : tuple of str
        Of "predict", "label", "learn" and "admin", which is all of them.
    models : tuple of str
        Those that it is for; all if there are none.
    """

    name: str
    digest: str
    rights: tuple[str, ...]
    models: tuple[str, ...]

    def allows(self, right: str, model: str | None) -> bool:
        """Return whether something may be done to a model, or to all of them."""
        has_right = not right or right in self.rights or ADMIN in self.rights
        return has_right and (not self.models or (model is not None and model in self.models))


class Tokens:
    """The tokens of a folder; the file is read again when it changes, so that one that is withdrawn ends at once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._seen: tuple[int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Return all tokens; raises OSError where the file cannot be read."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._seen, self._tokens = None, ()
            return ()
        if (found.st_mtime_ns, found.st_ino) != self._seen:
            try:
                listed = json.loads(self._path.read_bytes())
                if type(listed) is not list:
                    raise ValueError("no list of tokens")
                self._tokens = tuple(
                    Token(one["name"], one["digest"], tuple(one["rights"]), tuple(one["models"])) for one in listed
                )
            except (ValueError, TypeError, KeyError):
                raise OSError(f"'{self._path}' is damaged. Restore it, or remove it and make new tokens.") from None
            self._seen = found.st_mtime_ns, found.st_ino
        return self._tokens

    def add(self, name: str, rights: Sequence[str], models: Sequence[str] = ()) -> str:
        """Make a token, and return it; it is not kept, and cannot be shown again."""
        wrong = [one for one in rights if one not in RIGHTS]
        if wrong or not rights:
            raise ValueError(f"the rights are {', '.join(rights) or 'none'}; expected some of {', '.join(RIGHTS)}.")
        if any(one.name == name for one in self.all()):
            raise ValueError(f"there is a token {name!r} already. Remove it, or name this one otherwise.")
        token = PREFIX + secrets.token_urlsafe(32)
        self._write((*self.all(), Token(name, _digest(token), tuple(rights), tuple(models))))
        return token

    def remove(self, name: str) -> None:
        """Withdraw a token."""
        kept = tuple(one for one in self.all() if one.name != name)
        if len(kept) == len(self.all()):
            raise ValueError(
                f"there is no token {name!r}; there are {', '.join(o.name for o in self.all()) or 'none'}."
            )
        self._write(kept)

    def _write(self, tokens: tuple[Token, ...]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, [json.dumps([asdict(one) for one in tokens], indent=1).encode()], mode=0o600)


def find(given: str, tokens: Sequence[Token]) -> Token | None:
    """Return the token that was brought, None if there is none such; all are compared, in the same time."""
    digest, found = _digest(given), None
    for one in tokens:
        if hmac.compare_digest(one.digest, digest):
            found = one
    return found


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
