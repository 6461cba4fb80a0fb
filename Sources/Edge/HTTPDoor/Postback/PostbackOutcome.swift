/// What became of a request to `/r/`.
package enum PostbackOutcome: String, CaseIterable, Sendable {
    /// It is durable.
    case recorded
    /// Its hit was known already.
    case duplicate
    /// A rule refused it, as the ids are wrong: the SDK would drop it in any case.
    case refused
    /// Nothing was stored, for want of room, by a quota or at the end: it has to come again.
    case retry
    /// Its address sends more than `postback.per_address_per_second`.
    case throttled
    /// Asked with HEAD: nothing is recorded.
    case head
    /// It is no postback: a tracked link, or what nobody of the SDKs sends.
    case unreadable
    /// No row of `postback.hosts` has its host.
    case unknownHost = "unknown_host"
    /// It is of the other product than its host's.
    case otherProduct = "other_product"
}

/// What became of a request that was passed on.
package enum UpstreamOutcome: String, CaseIterable, Sendable {
    /// Its answer was passed back, whatever its status.
    case answered
    /// No connection, or it ended before the answer did.
    case failed
    /// No whole answer in `postback.upstream_timeout_seconds`.
    case late
    /// The answer has more than `postback.upstream_bytes`.
    case tooLarge = "too_large"
    /// `postback.upstream_requests` were under way.
    case busy
    /// It had been passed on by a server like this one before.
    case circle
    /// Its method or path is none that can be passed on.
    case unfit
}
