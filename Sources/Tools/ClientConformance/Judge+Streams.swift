// How the client opens and ends streams.
internal import SightlineProtos

extension Judge {
    /// Connections that may come in a second in which nobody listens. A wait that begins with
    /// 100 ms and grows makes fewer.
    static let connectionsPerSecond = 10

    /// Streams that the client has broken off, or not half-closed in time.
    var wrongEnds: [String] {
        var faults: [String] = []
        var halfClosed: Set<Int> = []
        var open: Set<Int> = []
        var graces: [Int: Duration] = [:]
        for entry in self.transcript.entries {
            switch entry.event {
            case .opened(let stream, _): open.insert(stream)
            case .answered(let stream, let answer):
                graces[stream] = answer.closingGrace ?? graces[stream]
            case .halfClosed(let stream): halfClosed.insert(stream)
            case .ended(let stream, let end):
                open.remove(stream)
                if end == .client { faults.append(self.breakOff(stream, halfClosed)) }
                if end == .status(.closing), let grace = graces[stream] {
                    faults.append(
                        "It did not half-close \(name(stream)) within the grace of "
                            + milliseconds(grace))
                }
            case .exited:
                faults += open.sorted().map { self.breakOff($0, halfClosed) }
                open = []
            case .connected, .received, .said: break
            }
        }
        return self.scenario.isRefused ? [] : faults
    }

    private func breakOff(_ stream: Int, _ halfClosed: Set<Int>) -> String {
        halfClosed.contains(stream)
            ? "It left \(self.name(stream)) after its half-close, before the server's OK"
            : "It broke off \(self.name(stream)) without a half-close"
    }

    /// Connections and streams that come too soon, too often, or after a refusal for good.
    var hammering: [String] {
        var faults: [String] = []
        var away: [Duration] = []
        var last: (time: Duration, refusal: Refusal)?
        for entry in self.transcript.entries {
            switch entry.event {
            case .connected(isAway: true): away.append(entry.time)
            case .ended(_, .status(let refusal)): last = (entry.time, refusal)
            case .opened(let stream, _):
                guard let (time, refusal) = last else { continue }
                last = refusal.isFinal ? last : nil
                let waited = entry.time - time
                if refusal.isFinal {
                    faults.append("It opened \(name(stream)) again after \(refusal.name)")
                } else if let delay = refusal.retryDelay, waited < delay {
                    faults.append(
                        "It opened \(name(stream)) \(milliseconds(waited)) after \(refusal.name), "
                            + "whose RetryInfo said \(milliseconds(delay))")
                }
            case .connected, .received, .answered, .halfClosed, .ended, .said, .exited: break
            }
        }
        return faults + self.storms(away)
    }

    private func storms(_ times: [Duration]) -> [String] {
        var most = 0
        for (index, time) in times.enumerated() {
            most = max(most, times[index...].prefix { $0 < time + .seconds(1) }.count)
        }
        guard most > Self.connectionsPerSecond else { return [] }
        return [
            "It made \(most) connections in a second while nobody listened; at most "
                + "\(Self.connectionsPerSecond) are expected"
        ]
    }

    var missingKeys: [String] {
        guard self.scenario.needsKey else { return [] }
        return self.transcript.entries.compactMap { entry in
            guard case .opened(let stream, hasKey: false) = entry.event else { return nil }
            return "It opened \(name(stream)) without the key of SIGHTLINE_TOKEN"
        }
    }
}
