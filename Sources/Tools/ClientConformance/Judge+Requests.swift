// What comes to the server: sequences, ids, order, limits, and what is sent again.
internal import SightlineProtos

extension Judge {
    var fallingSequences: [String] {
        self.streams.flatMap { stream in
            var last: UInt64 = 0
            return self.requests(of: stream).compactMap { request -> String? in
                defer { last = max(last, request.sequence) }
                guard request.sequence <= last else { return nil }
                let before = last == 0 ? "in the first request" : "after \(last)"
                return "It sent the sequence \(request.sequence) \(before), on \(name(stream))"
            }
        }
    }

    var foreignEvents: [String] {
        let known = Set(self.ids)
        return self.streams.flatMap { stream in
            self.requests(of: stream).flatMap(\.foreign).map {
                known.contains($0)
                    ? "It changed the event \($0), on \(name(stream))"
                    : "It sent the event_id \"\($0)\" on \(name(stream)), which no event of its "
                        + "input has"
            }
        }
    }

    /// On each stream: what streams before it left without an answer comes first, in its order.
    var wrongOrder: [String] {
        var order = SendingOrder()
        var faults: [String] = []
        for entry in self.transcript.entries {
            switch entry.event {
            case .opened(let stream, _): order.open(stream)
            case .received(let stream, let request):
                for id in request.ids {
                    guard let first = order.receive(id, on: stream) else { continue }
                    faults.append(
                        "On \(name(stream)) \(id) came before \(first), which an earlier stream "
                            + "had left without an answer: the order has changed")
                }
            case .answered(_, let answer):
                for told in answer.told { order.settle(told) }
            case .ended(let stream, _): order.end(stream)
            case .connected, .halfClosed, .said, .exited: break
            }
        }
        return faults
    }

    /// Events that come twice on a stream, or on a later one although their verdict was told.
    var needlessResends: [String] {
        var faults: [String] = []
        var openings: [Int: Duration] = [:]
        var said: [String: (time: Duration, verdict: Sightline_V1_Verdict)] = [:]
        var isUnderWay: Set<String> = []
        var streamOf: [String: Int] = [:]
        var last: [String: Sightline_V1_Verdict] = [:]
        for entry in self.transcript.entries {
            switch entry.event {
            case .opened(let stream, _): openings[stream] = entry.time
            case .received(let stream, let request):
                for id in request.ids {
                    if isUnderWay.contains(id), streamOf[id] == stream {
                        let verdict = last[id].map { ", with the verdict \($0.word)" } ?? ""
                        faults.append("It sent \(id) again on \(name(stream))\(verdict)")
                    } else if let (time, verdict) = said[id], let opening = openings[stream],
                        time < opening
                    {
                        faults.append(
                            "It sent \(id) again on \(name(stream)), after it had told the "
                                + "verdict \(verdict.word)")
                    }
                    streamOf[id] = stream
                    isUnderWay.insert(id)
                }
            case .answered(_, let answer):
                for told in answer.told {
                    last[told.id] = told.verdict
                    if told.verdict == .retryLater || told.mayComeAgain {
                        isUnderWay.remove(told.id)
                    }
                }
            case .said(.verdict(let id, let verdict)): said[id] = (entry.time, verdict)
            case .said, .ended, .connected, .halfClosed, .exited: break
            }
        }
        return faults
    }

    var earlyRetries: [String] {
        var allowed: [String: (told: Duration, delay: Duration)] = [:]
        var faults: [String] = []
        for entry in self.transcript.entries {
            switch entry.event {
            case .answered(_, let answer):
                guard let delay = answer.retryDelay else { continue }
                for told in answer.told where told.verdict == .retryLater {
                    allowed[told.id] = (entry.time, delay)
                }
            case .received(let stream, let request):
                for id in request.ids {
                    guard let (told, delay) = allowed.removeValue(forKey: id) else { continue }
                    let waited = entry.time - told
                    guard waited < delay else { continue }
                    faults.append(
                        "It sent \(id) again on \(name(stream)) \(milliseconds(waited)) after "
                            + "RETRY_LATER, whose retry_delay was \(milliseconds(delay))")
                }
            case .connected, .opened, .halfClosed, .ended, .said, .exited: break
            }
        }
        return faults
    }

    /// Limits hold once the client has told a verdict: then it has read the first answer.
    var brokenLimits: [String] {
        guard self.scenario.waitsForFirst, self.scenario.plan(0).refusal == nil else { return [] }
        let limits = self.scenario.plan(0).limits
        var faults: [String] = []
        var isKnown = false
        var underWay: [UInt64] = []
        for entry in self.transcript.entries {
            switch entry.event {
            case .said(.verdict): isKnown = true
            case .answered(0, let answer): underWay.removeAll { $0 <= answer.watermark }
            case .received(0, let request):
                underWay.append(request.sequence)
                guard isKnown else { continue }
                let what = "The request with the sequence \(request.sequence)"
                if request.ids.count > limits.maxEvents {
                    faults.append(
                        "\(what) had \(request.ids.count) events, and max_events was "
                            + "\(limits.maxEvents)")
                }
                if request.bytes > limits.maxRequestBytes, request.ids.count > 1 {
                    faults.append(
                        "\(what) had \(request.bytes) bytes, and max_request_bytes was "
                            + "\(limits.maxRequestBytes)")
                }
                if underWay.count > limits.maxRequests {
                    faults.append(
                        "\(what) was the \(underWay.count)th under way, and "
                            + "max_unacknowledged_requests was \(limits.maxRequests)")
                }
            case .connected, .opened, .received, .answered, .halfClosed, .ended, .said, .exited:
                break
            }
        }
        return faults
    }
}
