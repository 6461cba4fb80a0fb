internal import SightlineProtos

/// Which verdict an event gets that is no duplicate.
enum VerdictRule: Sendable {
    case accepted
    /// One of each seven events gets the next of these; a request has another number of events.
    case some([Sightline_V1_Verdict])
    /// One of each seven events is told to come again, so often.
    case later(times: Int)
    /// Nothing is taken until an event comes for the `times`th time.
    case full(times: Int)

    /// The verdict of an event.
    ///
    /// - Parameters:
    ///   - number: the event's, from 0.
    ///   - refusals: how often it was told to come again.
    func verdict(number: Int, refusals: Int) -> Sightline_V1_Verdict {
        switch self {
        case .accepted: return .accepted
        case .some(let verdicts):
            return number % 7 == 3 ? verdicts[number / 7 % verdicts.count] : .accepted
        case .later(let times):
            return number % 7 == 4 && refusals < times ? .retryLater : .accepted
        case .full(let times): return refusals < times ? .retryLater : .accepted
        }
    }
}
