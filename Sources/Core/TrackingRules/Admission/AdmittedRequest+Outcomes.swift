package import WireFormat

extension AdmittedRequest {
    /// An event of a settled request, with its final verdict.
    package struct Outcome {
        /// The verdict that the client got, after deduplication and commit.
        package let verdict: Verdict
        /// The hits that are new.
        package let hits: HitKinds
        /// The warnings of an accepted event.
        package let warnings: Warnings
        /// The violations of a refused event; empty if the client has to send it again.
        package let violations: [Violation]
        /// The event; nil if nothing of it is kept.
        package let event: Bytes?
        /// Where `names` reads the event's names.
        let source: Source
        /// An evenly distributed number by which a sample is chosen: the same for each report of a
        /// fact. Without an event it is computed from the request's time and sequence and the
        /// event's index.
        package let chance: UInt64

        /// The part of an event that admission kept.
        enum Source {
            case accepted(JournalEvent)
            case refused(KeptEvent)
            case none
        }

        /// The names by which people search for the event; nil if nothing of it is kept.
        package var names: EventNames? {
            switch self.source {
            case .accepted(let event): EventNames(event)
            case .refused(let event): event.names
            case .none: nil
            }
        }
    }

    /// Calls `body` once per event, with the refused events first. A request that was refused as a
    /// whole has a single outcome.
    package func forEachOutcome(_ body: (Outcome) -> Void) {
        if let violation = self.violation {
            body(self.outcome(of: .rejected, [violation], nil, index: 0))
        }
        self.keptEvents.withUnsafeBytes { events in
            for refusal in self.refusals {
                let event = refusal.kept.map { Bytes(rebasing: events[$0.bytes]) }
                // The same violations as in the client's answer.
                let violations = self.isToRetry ? [] : refusal.judgement.violations
                body(
                    self.outcome(
                        of: self.verdict(of: refusal), violations, event,
                        refusal.kept.map { .refused($0) } ?? .none, index: refusal.index))
            }
        }
        self.entries.withUnsafeBytes { entries in
            for accepted in self.acceptedEvents {
                let verdict = self.verdict(of: accepted)
                let isAccepted = verdict == .accepted
                let event = HitEncoding.event(at: accepted.entryOffset, in: entries)
                body(
                    Outcome(
                        verdict: verdict, hits: isAccepted ? accepted.granted : [],
                        warnings: isAccepted ? accepted.warnings : [], violations: [],
                        event: event?.bytes, source: event.map { .accepted($0) } ?? .none,
                        chance: accepted.key.high))
            }
        }
    }

    private func outcome(
        of verdict: Verdict, _ violations: [Violation], _ event: Bytes?,
        _ source: Outcome.Source = .none, index: UInt32
    ) -> Outcome {
        // Requests of one coalesced message share a receive time; their sequences differ.
        let place = (UInt64(bitPattern: self.receiveTime), self.sequence, UInt64(index))
        return Outcome(
            verdict: verdict, hits: [], warnings: [], violations: violations, event: event,
            source: source, chance: event?.chance ?? withUnsafeBytes(of: place) { $0.chance })
    }
}

extension Bytes {
    /// FNV-1a with a final mix: evenly distributed, but not safe against chosen collisions.
    fileprivate var chance: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in self { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0xd6e8_feb8_6659_fd93
        return hash ^ hash >> 32
    }
}
