"""What one answer to a request for a robots.txt says, whoever's it is: the table of RFC 9309 §2.3.1 on an `Answer`.

Pure. It must not know whose robots.txt it is, how many redirects led there, or what becomes of it.
"""

from crawler.config import Config
from crawler.fetch.exchange import Answer
from crawler.frontier.lease import Heard, Incident
from crawler.outcomes import Kind
from crawler.robots.answer import AFTER_LAST_REDIRECT, Verdict, judge
from crawler.robots.rules import ALLOW_ALL, parse

# With these kinds the answer is whole; any other was given up or broke off, and then its status says nothing.
_WHOLE = frozenset({Kind.FETCHED, Kind.REDIRECT, Kind.HTTP_ERROR})


def hear(url: str, answer: Answer, token: str, config: Config) -> Heard:
    """The answer of `url`, as the agent with this product token reads it."""
    body, limit = answer.body or b"", config.robots.max_bytes
    if answer.kind is Kind.FETCHED and answer.truncated and len(body) < limit:
        # Cut at the limit is as intended; cut anywhere else, half a path may stand for a whole one.
        answer = answer._replace(kind=Kind.PROTOCOL_ERROR)
    verdict = judge(answer.status if answer.kind in _WHOLE else None)
    if verdict is Verdict.REDIRECT:
        if answer.redirect_to is not None:
            return Heard(url, answer.ended_at, moved_to=answer.redirect_to)
        verdict = AFTER_LAST_REDIRECT
    if verdict is Verdict.UNREACHABLE:
        return Heard(url, answer.ended_at, failure=incident(answer, config))
    rules = parse(body, token, max_bytes=limit) if verdict is Verdict.PARSE else ALLOW_ALL
    return Heard(url, answer.ended_at, rules=rules.pack())


def incident(answer: Answer, config: Config) -> Incident:
    """A failing answer as what it is to its host; the wait that it asks for is capped."""
    wait = answer.retry_after
    if wait is not None:
        wait = min(wait, config.politeness.retry_after_cap)
    return Incident(answer.kind, answer.status, wait)
