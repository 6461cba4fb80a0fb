// What is tried. Each trial has journals of its own.
internal import GRPCSink
internal import SightlineProtos
internal import SwiftProtobuf

extension BackendCheck {
    func unknownJournal() async throws -> String? {
        try await self.openNew(self.journal()).close(inOrder: true)
        return nil
    }

    func acks() async throws -> String? {
        try await self.deliver(1...3, to: self.journal())
        return nil
    }

    func rhythm() async throws -> String? {
        let stream = try await self.openNew(self.journal())
        defer { stream.close(inOrder: false) }
        try await self.send(1...3, on: stream)
        try await stream.settle()
        guard let rhythm = CommitRhythm(of: stream), rhythm.isSlow else { return nil }
        return "It waits: \(rhythm.sentence)."
    }

    func resumes() async throws -> String? {
        let journal = self.journal()
        try await self.deliver(1...3, to: journal)
        let stream = try await self.open(journal)
        defer { stream.close(inOrder: false) }
        try self.expect(3, in: stream, because: "it had acknowledged \(self.end(3))")
        try await self.send(4...4, on: stream)
        try await stream.settle()
        return nil
    }

    func tellsApart() async throws -> String? {
        let journal = self.journal()
        try await self.deliver(1...2, to: journal)
        try await self.openNew(self.journal()).close(inOrder: true)
        let other = try await self.open(journal, sink: "check-other")
        defer { other.close(inOrder: false) }
        if let durable = other.durable {
            throw Fault(
                "It says that it has hits up to \(durable) of a sink that it never saw: it ignores "
                    + "the sink's name, and hits would be left out.")
        }
        return nil
    }

    func brokenOff() async throws -> String? {
        let journal = self.journal()
        let groups = 1...8
        let stream = try await self.openNew(journal)
        try await self.send(groups, on: stream)
        stream.close(inOrder: false)
        let next = try await self.open(journal)
        defer { next.close(inOrder: false) }
        let known = groups.filter { next.durable == self.end($0) }
        guard let durable = next.durable else { return try await self.rest(1...8, on: next) }
        guard let last = known.first else {
            throw Fault(
                "After a stream that broke off it has hits up to \(durable), which is no end of a "
                    + "batch that was sent.")
        }
        return last == 8 ? nil : try await self.rest(last + 1...8, on: next)
    }

    private func rest(_ groups: ClosedRange<Int>, on stream: DeliverStream) async throws -> String?
    {
        try await self.send(groups, on: stream)
        try await stream.settle()
        return nil
    }

    func laterStream() async throws -> String? {
        let journal = self.journal()
        try await self.deliver(1...1, to: journal)
        let earlier = try await self.open(journal)
        let later = try await self.open(journal)
        defer {
            earlier.close(inOrder: false)
            later.close(inOrder: false)
        }
        do {
            try await self.send(2...2, on: earlier)
            try await earlier.settle()
            throw Fault(
                "It took hits on an earlier stream after it had said Welcome on a later one of the "
                    + "same journal: after a break, hits would be there twice.")
        } catch is BackendFailure {
            // As it should be: the stream has ended, or gets no ack.
        }
        try self.expect(1, in: later, because: "it had acknowledged \(self.end(1))")
        try await self.send(2...2, on: later)
        try await later.settle()
        return nil
    }

    func refusals() async throws -> String? {
        let journal = self.journal()
        let odd = 2
        let stream = try await self.openNew(journal)
        let message = try self.message(2, odd: odd)
        try await stream.send(try self.message(1), before: message)
        try await stream.send(message, before: nil)
        try await stream.settle()
        let refused = stream.takeRefused(through: .max)
        stream.close(inOrder: false)
        if let other = refused.first(where: { $0.sequence != 2 || $0.index != odd }) {
            return "It refused a hit that lacks nothing, \(other.sequence)/\(other.index): "
                + "\(other.reason)."
        }
        if refused.isEmpty { return "It refused nothing, not even a hit without a kind and ids." }
        let next = try await self.open(journal, settled: 1)
        defer { next.close(inOrder: false) }
        if next.takeRefused(through: .max) != refused {
            throw Fault(
                "It refused a hit, and its next Welcome does not repeat that: if the ack is lost, "
                    + "nobody has the hit.")
        }
        return nil
    }

    func duplicates() async throws -> String? {
        let journal = self.journal()
        try await self.deliver(1...2, to: journal)
        let stream = try await self.open(journal)
        try await self.send(2...2, on: stream)
        try await stream.settle()
        stream.close(inOrder: false)
        let next = try await self.open(journal)
        defer { next.close(inOrder: false) }
        try self.expect(2, in: next, because: "it had acknowledged \(self.end(2)) again")
        return "Whether it has those hits once, only its own data can tell."
    }

    func erasure() async throws -> String? {
        let stream = try await self.openNew(self.journal())
        defer { stream.close(inOrder: false) }
        guard try await stream.open(within: .zero).mayErase else {
            return "It does not name SINK_CAPABILITY_ERASURE: who is forgotten has to be deleted "
                + "there by hand."
        }
        let subject = self.journal()
        try await stream.send(try self.message(1, subject: subject), before: nil)
        try await stream.settle()
        let first = try await self.erase(subject, on: stream)
        let again = try await self.erase(subject, on: stream)
        if again.count > 0 {
            throw Fault(
                "It was asked twice to forget a recipient of whom nothing came between, and says "
                    + "that it deleted \(first.count) hits and then \(again.count): the first time "
                    + "it left some.")
        }
        let unknown = try await self.erase(self.journal(), on: stream)
        if unknown.count > 0 {
            throw Fault(
                "It says that it deleted \(unknown.count) hits of a recipient whom nobody knows: "
                    + "they were of somebody else.")
        }
        // The stream goes on.
        try await self.send(2...2, on: stream)
        try await stream.settle()
        return first.count > 0
            ? nil : "It says that it had nothing of a recipient who had \(Self.hitsPerGroup) hits."
    }

    private func erase(
        _ subject: String, on stream: DeliverStream
    ) async throws -> DeliverState.Erased {
        let erased = try await stream.erase(
            .with { ($0.tenant, $0.subjectIds) = (Self.tenant, [subject]) })
        if erased.failure.isEmpty { return erased }
        throw Fault("It cannot forget a recipient: \(erased.failure).")
    }

    func slowness() async throws -> String? {
        let journal = self.journal()
        let stream = try await self.openNew(journal)
        defer { stream.close(inOrder: false) }
        try await self.send(1...500, on: stream)
        try await stream.settle()
        try await Task.sleep(for: .seconds(2))
        for group in 501...503 {
            try await self.send(group...group, on: stream)
            try await stream.settle()
        }
        return nil
    }

    func ends() async throws -> String? {
        let stream = try await self.openNew(self.journal())
        try await self.send(1...1, on: stream)
        try await stream.settle()
        stream.close(inOrder: true)
        guard let end = await stream.end(within: self.backend.configuration.ackTimeout) else {
            throw Fault("It does not end a stream whose other side has ended.")
        }
        if end.isInOrder { return nil }
        throw Fault("A stream that we ended, it ended with an error instead of OK: \(end.whole).")
    }
}
