// Where the webhook sink connects to, with what secrets, and for how long it waits.
internal import Foundation
internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import WebhookSink

extension WebhookSinkTests {
    private static let loopback: WebhookResolver.Lookup = { _ in
        [NetworkAddress("127.0.0.1")].compactMap { $0 }
    }

    @Test("no redirect is followed", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let other = try TestReceiver()
        let receiver = try TestReceiver([
            .answer(status, headers: ["location": "http://127.0.0.1:\(other.port)/hidden"])
        ])
        let sink = try self.sink(receiver)
        self.expectUnavailable(await sink.deliver(try self.batch(1...1)), "a redirect")
        #expect(other.connectionCount == 0)
        #expect(receiver.requests.count == 1)
    }

    @Test("a receiver that stops answering is given up after timeout_seconds", arguments: [0, 1])
    func stalls(number: Int) async throws {
        let receiver = try TestReceiver([number == 0 ? .stall : .drip])
        let sink = try self.sink(receiver) { $0.timeout = .milliseconds(300) }
        let batch = try self.batch(1...1)
        self.expectUnavailable(await sink.deliver(batch), "webhook.timeout_seconds")
        // On a busy machine the next answers may be late as well.
        var answers = [await sink.deliver(batch)]
        while answers.last != .delivered, answers.count < 100 {
            answers.append(await sink.deliver(batch))
        }
        #expect(answers.last == .delivered)
    }

    @Test("secrets are read again for each batch: both sign while they are changed")
    func rotation() async throws {
        let receiver = try TestReceiver()
        let sink = try self.sink(receiver)
        let old = WebhookConfiguration.testKey
        let new = [UInt8](100..<140)
        let file = self.directory.file("secret")
        let written = "whsec_" + Data(new).base64EncodedString()
        for (number, (text, keys)) in [
            (WebhookConfiguration.testSecret, [old]),
            ("\(written)\n\(WebhookConfiguration.testSecret)", [old, new]), (written, [new]),
        ].enumerated() {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let batch = try self.batch(1...1, sequence: Int64(number + 1))
            #expect(await sink.deliver(batch) == .delivered)
            let request = try #require(receiver.requests.last)
            for key in [old, new] { #expect(request.isSigned(by: key) == keys.contains(key)) }
        }
        try "whsec_AAAA".write(toFile: file, atomically: true, encoding: .utf8)
        self.expectUnavailable(await sink.deliver(try self.batch(1...1)), "24 to 64 bytes")
        #expect(receiver.requests.count == 3)
    }

    @Test("an address that is not public is not connected to unless it is listed")
    func guarded() async throws {
        let receiver = try TestReceiver()
        for (host, allow, isAllowed) in [
            ("127.0.0.1", "", false), ("127.0.0.1", "127.0.0.0/8", true), ("localhost", "", false),
            ("localhost", "localhost", true), ("localhost", "other", false),
        ] {
            let sink = try self.sink(receiver, TestClock(), lookup: Self.loopback) {
                $0.url = "http://\(host):\(receiver.port)/hits"
                $0.allow = allow
            }
            let answer = await sink.deliver(try self.batch(1...1))
            if isAllowed {
                #expect(answer == .delivered)
            } else {
                self.expectUnavailable(answer, "127.0.0.1 (loopback)")
            }
        }
        #expect(receiver.connectionCount == 2)
    }

    @Test("the address that was checked is connected to, and the next one after a failure")
    func pinned() async throws {
        let receiver = try TestReceiver()
        let lookups = Mutex(0)
        let clock = TestClock()
        // On this port only 127.0.0.1 listens.
        let addresses = ["10.0.0.1", "127.0.0.9", "127.0.0.1"].compactMap { NetworkAddress($0) }
        let sink = try self.sink(
            receiver, clock,
            lookup: { host throws(WebhookFailure) in
                guard host == "hooks.localhost.example" else { throw WebhookFailure("other host") }
                lookups.withLock { $0 += 1 }
                return addresses
            }
        ) {
            $0.url = "https://hooks.localhost.example:\(receiver.port)/hits"
            $0.allow = "127.0.0.0/8"
            $0.connectTimeout = .seconds(3)
            $0.resolveInterval = .seconds(10)
        }
        // The receiver has no TLS: what matters is where the connection goes.
        self.expectUnavailable(await sink.deliver(try self.batch(1...1)), "no answer")
        #expect(receiver.connectionCount == 0)
        self.expectUnavailable(await sink.deliver(try self.batch(1...1)), "no answer")
        #expect(receiver.connectionCount == 1)
        #expect(lookups.withLock { $0 } == 2)
    }

    @Test("http leads to loopback only, whatever a name's address becomes")
    func plain() async throws {
        let receiver = try TestReceiver()
        let sink = try self.sink(
            receiver, TestClock(), lookup: { _ in [NetworkAddress("8.8.8.8")].compactMap { $0 } })
        self.expectUnavailable(
            await sink.deliver(try self.batch(1...1)), "8.8.8.8 (http is for loopback only)")
    }

    @Test("an address is looked up again after resolve_seconds, and kept while it holds")
    func resolveInterval() async throws {
        let receiver = try TestReceiver()
        let lookups = Mutex(0)
        let clock = TestClock()
        let sink = try self.sink(
            receiver, clock,
            lookup: { _ throws(WebhookFailure) in
                lookups.withLock { $0 += 1 }
                return try Self.loopback("")
            }
        ) { $0.resolveInterval = .seconds(10) }
        for (seconds, expected) in [(0, 1), (9, 1), (1, 2), (10, 3)] {
            clock.advance(by: .seconds(seconds))
            #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
            #expect(lookups.withLock { $0 } == expected)
        }
        #expect(receiver.connectionCount == 1)
    }

    @Test("a sink does not start with a URL or secrets that it cannot use")
    func start() throws {
        let receiver = try TestReceiver()
        for (words, change): (String, (inout WebhookConfiguration) -> Void) in [
            ("webhook.url has to begin with", { $0.url = "http://example.com/hidden" }),
            ("webhook.secret_file is", { $0.secretFile += ".missing" }),
        ] {
            let error = #expect(throws: (any Error).self) {
                try WebhookSink(.test(receiver, self.directory, change))
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(words) && !text.contains("hidden"), "\(text)")
        }
    }

    @Test("410 says that the receiver wants no more; the next delivery asks again at once")
    func gone() async throws {
        let receiver = try TestReceiver([.answer(410)])
        let sink = try self.sink(receiver)
        let batch = try self.batch(1...1)
        guard case .suspended(let reason) = await sink.deliver(batch) else {
            Issue.record("410 was taken for something else")
            return
        }
        #expect(reason.hasPrefix("the receiver answered 410"))
        #expect(await sink.deliver(batch) == .delivered)
    }
}
