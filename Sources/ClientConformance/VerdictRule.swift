internal import SightlineProtos

/// Which verdict an event gets that is no duplicate.
enum VerdictRule: Sendable {
    case accepted
    /// Of each five events one gets the next of these.
    case some([Sightline_V1_Verdict])
    /// The first `times` attempts of each five events' last are told to come again.
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
            return number % 5 == 3 ? verdicts[number / 5 % verdicts.count] : .accepted
        case .later(let times):
            return number % 5 == 4 && refusals < times ? .retryLater : .accepted
        case .full(let times): return refusals < times ? .retryLater : .accepted
        }
    }
}
