"""Everything Askback raises, and whose move is next.

    AskbackError
    ├── AuthorError              the tool's code must change
    │   ├── QuestionRefused      a question that could never be shown
    │   │   ├── SecretInForm     a form that fishes for secrets
    │   │   └── LinkRefused      a link that carries what a link must not
    │   ├── OutsideConversation  asked where no call is being served
    │   ├── NoTruthValue         an answer used as a truth value
    │   ├── NotAwaited           a verb without its await
    │   ├── KeyTaken             one key for two things in one call
    │   ├── KeysNeeded           asked side by side without keys
    │   ├── AskedInsideOnce      a question inside an effect
    │   ├── NotRecordable        a result the journal cannot hold
    │   ├── Drift                on replay the body asked something else, twice
    │   ├── InstalledTwice       a second Askback on one server
    │   ├── AnswerRefused        an answer that does not fit what was asked, on the client's side
    │   └── ConnectionMustLive   a call that is to be left and taken up later, where the protocol cannot do that
    ├── PeerError                the other side broke what it promised
    │   ├── InvalidAnswer        replies kept not fitting the question
    │   ├── RoundRefused         a round that was used before came again
    │   │   └── RoundForgotten   a round from before the store lost its memory
    │   ├── NotUnderstood        a server said what its revision of the protocol does not know
    │   ├── TooManyQuestions     a server that does not stop asking
    │   └── ServerGone           the server went away during a call
    ├── OperatorError            the set-up must change
    │   ├── UnsupportedHost      this server, or this SDK version, cannot carry us
    │   ├── StoreUnavailable     what must be kept cannot be written down or looked up
    │   ├── CallerUnknown        nobody tells who calls, and something is to be kept for the caller
    │   ├── VisitorUnknown            pages on which nobody could tell who is at the door
    │   ├── VaultUnavailable     secrets that cannot be sealed or opened
    │   ├── ProviderUnavailable  a service to connect with that cannot be reached, or is not what it says
    │   ├── CannotConnect        a server that does not start, or does not answer
    │   ├── PolicyRefused        a policy file that cannot be followed
    │   └── EstimateFailed       nobody can say what a statement would cost
    ├── CannotAsk                nobody can be asked here
    ├── TimedOut                 nobody answered, or was done on the page, in time
    │   └── StillOpen            the person has agreed to go, and the client waits no longer
    ├── VisitFailed              what the person was sent to do did not work out
    ├── VisitUnknown             a visit to be settled that was never begun, or was long ago
    ├── EffectFailed             what `once` ran has raised
    ├── NotApproved              a guard stands before it, and nobody has said yes
    ├── ChangedSinceApproval     what a statement touches has changed since somebody said yes
    ├── Unanswered               a question reached us, and nobody answers it
    ├── NotVisited               the person did not go where the call needs them to go
    └── Unfinished               a call took longer than it may

All derive from `MCPError`, which the SDK's servers pass on as it is: so an error that the author leaves uncaught
reaches the middleware whole, and the client reads our text instead of "Error executing tool".
"""

from askback.errors.answers import (
    AnswerRefused,
    CannotConnect,
    ConnectionMustLive,
    NotUnderstood,
    NotVisited,
    PolicyRefused,
    ServerGone,
    TooManyQuestions,
    Unanswered,
    Unfinished,
)
from askback.errors.questions import (
    FORGOTTEN,
    INTERRUPTED,
    MEMORY_LOST,
    UNKNOWN,
    AskedInsideOnce,
    CallerUnknown,
    CannotAsk,
    ChangedSinceApproval,
    Drift,
    EffectFailed,
    EstimateFailed,
    InstalledTwice,
    InvalidAnswer,
    KeysNeeded,
    KeyTaken,
    LinkRefused,
    NotApproved,
    NotAwaited,
    NotRecordable,
    NotRun,
    NoTruthValue,
    OutsideConversation,
    ProviderUnavailable,
    QuestionRefused,
    RoundForgotten,
    RoundRefused,
    SecretInForm,
    StillOpen,
    StoreUnavailable,
    TimedOut,
    UnsupportedHost,
    VaultUnavailable,
    VisitFailed,
    VisitorUnknown,
    VisitUnknown,
)
from askback.errors.roots import (
    AskbackError,
    AskbackWarning,
    AuthorError,
    OperatorError,
    PeerError,
    causes,
    own_error,
)

__all__ = [
    "FORGOTTEN",
    "INTERRUPTED",
    "MEMORY_LOST",
    "UNKNOWN",
    "AnswerRefused",
    "AskbackError",
    "AskbackWarning",
    "AskedInsideOnce",
    "AuthorError",
    "CallerUnknown",
    "CannotAsk",
    "CannotConnect",
    "ChangedSinceApproval",
    "ConnectionMustLive",
    "Drift",
    "EffectFailed",
    "EstimateFailed",
    "InstalledTwice",
    "InvalidAnswer",
    "KeyTaken",
    "KeysNeeded",
    "LinkRefused",
    "NoTruthValue",
    "NotApproved",
    "NotAwaited",
    "NotRecordable",
    "NotRun",
    "NotUnderstood",
    "NotVisited",
    "OperatorError",
    "OutsideConversation",
    "PeerError",
    "PolicyRefused",
    "ProviderUnavailable",
    "QuestionRefused",
    "RoundForgotten",
    "RoundRefused",
    "SecretInForm",
    "ServerGone",
    "StillOpen",
    "StoreUnavailable",
    "TimedOut",
    "TooManyQuestions",
    "Unanswered",
    "Unfinished",
    "UnsupportedHost",
    "VaultUnavailable",
    "VisitFailed",
    "VisitUnknown",
    "VisitorUnknown",
    "causes",
    "own_error",
]
