// What the client says of its events.
internal import SightlineProtos

extension Judge {
    /// Verdicts that the server has not told, or not yet.
    var wrongVerdicts: [String] {
        var told: [String: [Sightline_V1_Verdict]] = [:]
        var said: Set<String> = []
        var faults: [String] = []
        let known = Set(self.ids)
        // Where the watermark is ahead, answers that follow still tell what was recorded.
        let later = self.scenario.hasEarlyVerdicts ? self.toldInAll : [:]
        for entry in self.transcript.entries {
            switch entry.event {
            case .answered(_, let answer):
                for one in answer.told { told[one.id, default: []].append(one.verdict) }
            case .said(.unreadable(let line)):
                faults.append("It printed a line that is no result in JSON: \(line)")
            case .said(.verdict(let id, let verdict)):
                if !known.contains(id) {
                    faults.append("It told a verdict on \"\(id)\", which it was not given")
                } else if !said.insert(id).inserted {
                    faults.append("It told a verdict on \(id) twice")
                } else {
                    let verdicts = told[id] ?? later[id] ?? []
                    faults += self.fault(of: verdict, on: id, told: verdicts)
                }
            case .said, .connected, .opened, .received, .halfClosed, .ended, .exited: break
            }
        }
        return faults
    }

    private func fault(
        of verdict: Sightline_V1_Verdict, on id: String, told: [Sightline_V1_Verdict]
    ) -> [String] {
        guard let newest = told.last else {
            return ["It told \(verdict.word) on \(id) before any answer settled it"]
        }
        if verdict == .retryLater {
            return ["It told RETRY_LATER on \(id) as if it were final"]
        }
        // Of a request that was answered twice, either answer may be the one that it has read.
        return told.contains(verdict)
            ? [] : ["It told \(verdict.word) on \(id), and the server had said \(newest.word)"]
    }

    /// All that the server has told, up to the end.
    private var toldInAll: [String: [Sightline_V1_Verdict]] {
        var all: [String: [Sightline_V1_Verdict]] = [:]
        for case .answered(_, let answer) in self.transcript.entries.map(\.event) {
            for one in answer.told { all[one.id, default: []].append(one.verdict) }
        }
        return all
    }

    /// Events of which nothing is said in the end.
    var lostEvents: [String] {
        var faults: [String] = []
        var said: Set<String> = []
        var kept: Set<String> = []
        var came: [String: Int] = [:]
        var open: Set<Int> = []
        for entry in self.transcript.entries {
            switch entry.event {
            case .said(.verdict(let id, _)): said.insert(id)
            case .said(.unacknowledged(let ids)): kept.formUnion(ids)
            case .received(let stream, let request):
                for id in request.ids { came[id] = stream }
            case .opened(let stream, _): open.insert(stream)
            case .ended(let stream, .cut), .ended(let stream, .status): open.remove(stream)
            case .said, .connected, .answered, .halfClosed, .ended, .exited: break
            }
        }
        let silent = self.ids.filter { !said.contains($0) && !kept.contains($0) }
        if !silent.isEmpty {
            faults.append(
                "It told no verdict on \(words(silent)), and did not list them as unacknowledged"
                    + self.notSentAgain(silent.filter { came[$0].map(open.contains) == false }))
        }
        let told = self.toldInAll
        let final = self.ids.filter { id in
            kept.contains(id) && told[id].map { $0.last != .retryLater } == true
        }
        if !self.scenario.isRefused, let first = final.first, let verdict = told[first]?.last {
            faults.append(
                "It listed \(words(final)) as unacknowledged, and the server had said "
                    + verdict.word)
        }
        let never = self.ids.filter { said.contains($0) && came[$0] == nil }
        if !never.isEmpty { faults.append("It told verdicts on \(words(never)) that never came") }
        return faults
    }

    private func notSentAgain(_ ids: [String]) -> String {
        ids.isEmpty ? "" : "; after a stream's end it had not sent \(self.words(ids)) again"
    }

    /// An exit code that does not say what has happened.
    var wrongExit: [String] {
        var faults: [String] = []
        var kept = 0
        for entry in self.transcript.entries {
            switch entry.event {
            case .said(.unacknowledged(let ids)): kept += ids.count
            case .exited(nil):
                faults.append("It had not ended after \(milliseconds(entry.time)), and was killed")
            case .exited(let code?):
                if self.scenario.isRefused {
                    if code == 0 {
                        faults.append("It ended with 0, although the server refused it for good")
                    }
                } else if code != 0 {
                    faults.append("It ended with \(code), although the server would serve it")
                } else if kept > 0 {
                    faults.append("It ended with 0, and \(kept) events were unacknowledged")
                }
            case .said, .connected, .opened, .received, .answered, .halfClosed, .ended: break
            }
        }
        return faults
    }
}
