"""All errors that Askback raises, as a tree that says who has to act.

    AskbackError
    ├── AuthorError              the tool's code must change
    │   ├── QuestionRefused      a question that could never be shown
    │   │   ├── SecretInForm     a form that asks for a secret
    │   │   └── LinkRefused      a link that carries what a link must not
    │   ├── OutsideConversation  asked where no call is being served
    │   ├── NoTruthValue         an answer used as a truth value
    │   ├── NotAwaited           a verb without its await
    │   ├── KeyTaken             one key for two things in one call
    │   ├── KeysNeeded           asked side by side without keys
    │   ├── AskedInsideOnce      a question inside an effect
    │   ├── NotRecordable        a result that cannot be written down
    │   ├── Drift                on replay the body asked something else, twice
    │   ├── InstalledTwice       a second Askback on one server
    │   ├── AnswerRefused        an answer that does not fit what was asked, on the client's side
    │   └── ConnectionMustLive   a call that is to be resumed later, on a revision that cannot do that
    ├── PeerError                the other side broke the protocol or a promise
    │   ├── InvalidAnswer        replies kept not fitting the question
    │   ├── RoundRefused         a round that was used before was sent again
    │   │   └── RoundForgotten   a round from before the store lost its data
    │   ├── NotUnderstood        a message of a server that its protocol revision does not define
    │   ├── TooManyQuestions     a server that does not stop asking
    │   └── ServerGone           the server went away during a call
    ├── OperatorError            the set-up must change
    │   ├── UnsupportedHost      this server, or this version of the SDK, cannot carry Askback
    │   ├── StoreUnavailable     the store cannot be written or read
    │   ├── CallerUnknown        something must be kept for the caller, and the caller is not known
    │   ├── VisitorUnknown       pages that cannot tell who opens them
    │   ├── VaultUnavailable     secrets that cannot be sealed or opened
    │   ├── ProviderUnavailable  a service to connect with that cannot be reached, or answers wrongly
    │   ├── CannotConnect        a server that does not start, or does not answer
    │   ├── PolicyRefused        a policy file that cannot be followed
    │   └── EstimateFailed       no estimate of what a statement would cost
    ├── CannotAsk                no person can be asked here
    ├── TimedOut                 no answer, or no end of the visit, in time
    │   └── StillOpen            the person agreed to the visit, and the client waits no longer
    ├── VisitFailed              the application said that the visit failed
    ├── VisitUnknown             a visit to settle that was never begun, or is long over
    ├── EffectFailed             the function given to `once` raised
    ├── NotApproved              a guarded call that was not approved
    ├── ChangedSinceApproval     tables of a statement changed after its approval
    ├── Unanswered               a question that this client has no one to answer
    ├── NotVisited               the person did not open the link that the call needs
    └── Unfinished               a call took longer than it may

All derive from `MCPError`, which the SDK's servers pass on unchanged. So an error that the author does not catch
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
