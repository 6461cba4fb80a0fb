// Certificates in a running transport: what new handshakes see after a reload, and who the handler
// finds at the other end.
internal import ConfigurationKeys
@testable internal import Credentials
internal import Dispatch
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import Logging
@testable internal import ServerConfiguration
internal import SightlineProtos
internal import SwiftASN1
internal import Synchronization
internal import TestSupport
internal import Testing
internal import X509

@Suite(.timeLimit(.minutes(10)))
struct ServerCertificatesTests {
    @Test(
        "new handshakes see the new certificate once it is reloaded; a broken file changes nothing")
    func reload() async throws {
        try await TLSBench.with(.tls) { bench in
            let (first, second) = (bench.authority, try TestAuthority("second"))
            #expect(await bench.isServed(trusting: first))
            try bench.files.write(try second.identity(until: 199.5))
            #expect(await bench.isServed(trusting: first), "nothing was reloaded yet")
            #expect(bench.certificates.reload())
            #expect(await bench.isServed(trusting: second))
            #expect(await !bench.isServed(trusting: first))
            #expect(bench.certificates.certificateDaysLeft == 199)

            try TestTLSFiles.write("broken", bench.files.certificate)
            #expect(!bench.certificates.reload())
            #expect(bench.log.last?.hasPrefix("warning certificates not reloaded") == true)
            #expect(bench.log.last?.contains("tls.certificate: ") == true)
            try bench.files.write(try second.identity(until: -0.5))
            #expect(!bench.certificates.reload(), "one that has expired is no better")
            #expect(await bench.isServed(trusting: second))
        }
    }

    @Test("the files are read again by time, and what is broken is told once")
    func timed() async throws {
        try await TLSBench.with(.tls) { bench in
            let second = try TestAuthority("second")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await bench.certificates.run() }
                try TestTLSFiles.write("broken", bench.files.certificate)
                try await bench.wait { bench.log.contains { $0.hasPrefix("warning cert") } }
                try bench.files.write(try second.identity(until: 10.5))
                try await bench.wait { bench.certificates.certificateDaysLeft == 10 }
                group.cancelAll()
            }
            #expect(await bench.isServed(trusting: second))
            let warnings = bench.log.filter { $0.hasPrefix("warning") }
            let broken = warnings.filter { $0.contains("holds no certificate") }
            #expect(broken.count == 1, "\(warnings)")
            #expect(warnings.count { $0.contains("expires soon days_left=10") } == 1)
        }
    }

    @Test("a SIGHUP's new tls.reload_seconds ends the wait for the old ones")
    func newInterval() async throws {
        let clock = TestClock(maxSleeps: 0)
        try await TLSBench.with(.tls, clock: clock) { bench in
            var next = ServerTLSConfiguration()
            next.mode = .tls
            (next.certificatePath, next.keyPath) = (bench.files.certificate, bench.files.key)
            next.reloadInterval = .seconds(7)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await bench.certificates.run() }
                var sleeps = clock.lastingSleeps.makeAsyncIterator()
                let first = await sleeps.next()
                #expect(first == TLSBench.reloadInterval)
                try bench.certificates.prepare(next)()
                let second = await sleeps.next()
                #expect(second == .seconds(7), "the clock stands still, so nothing else ended it")
                try TestTLSFiles.write("broken", bench.files.certificate)
                clock.advance(by: .seconds(7))
                try await bench.wait { bench.log.contains { $0.hasPrefix("warning cert") } }
                group.cancelAll()
            }
        }
    }

    @Test("a SIGHUP reads the files again, also where they have new paths, or fails whole")
    func reloadable() async throws {
        try await TLSBench.with(.tls) { bench in
            let second = try TestAuthority("second")
            try bench.files.writeClient("other", try second.identity())
            var next = ServerTLSConfiguration()
            next.mode = .tls
            (next.certificatePath, next.keyPath) = bench.files.client("other")
            let change = try bench.certificates.prepare(next)
            #expect(await bench.isServed(trusting: bench.authority), "prepared is not in force")
            change()
            #expect(await bench.isServed(trusting: second))
            next.keyPath = "/nowhere"
            #expect(throws: ConfigurationError.self) { _ = try bench.certificates.prepare(next) }
            #expect(await bench.isServed(trusting: second))
        }
    }

    @Test("a read of the old files that is under way does not undo a SIGHUP's new paths")
    func readUnderWay() async throws {
        try await TLSBench.with(.tls) { bench in
            try bench.files.writeClient("other", try bench.authority.identity(until: 30.5))
            var (old, new) = (ServerTLSConfiguration(), ServerTLSConfiguration())
            (old.certificatePath, old.keyPath) = (bench.files.certificate, bench.files.key)
            (new.certificatePath, new.keyPath) = bench.files.client("other")
            // A change that falls between two reads would prove nothing, hence several.
            for _ in 0..<10 {
                try bench.certificates.prepare(old)()
                let change = try bench.certificates.prepare(new)
                let reader = EndlessReader(bench.certificates)
                change()
                reader.end()
                #expect(bench.certificates.certificateDaysLeft == 30)
            }
        }
    }

    @Test(
        "the start says how many days are left, and warns under 14",
        arguments: [(14.5, 1), (13.5, 2)])
    func daysAtStart(_ until: Double, _ records: Int) async throws {
        try await TLSBench.with(.tls, until: until) { bench in
            #expect(bench.log.count == records)
            #expect(bench.log.first?.contains("certificate loaded days_left=\(Int(until))") == true)
            #expect(bench.log.count { $0.hasPrefix("warning") } == records - 1)
        }
    }

    @Test("mTLS: the handler finds the client's certificate, and nobody comes in without one")
    func peer() async throws {
        try await TLSBench.with(.mtls) { bench in
            let client = try bench.authority.identity("shop", usage: .clientAuth)
            try bench.files.writeClient("shop", client)
            #expect(await bench.isServed(trusting: bench.authority, as: "shop"))
            #expect(bench.service.peers == [client.certificate])
            #expect(await !bench.isServed(trusting: bench.authority))
            let server = try bench.authority.identity("shop", usage: .serverAuth)
            try bench.files.writeClient("server", server)
            #expect(await !bench.isServed(trusting: bench.authority, as: "server"))
            #expect(bench.service.peers.count == 1)
        }
    }

    @Test("mTLS: authorities of clients come and go with a reload")
    func clientRoots() async throws {
        try await TLSBench.with(.mtls) { bench in
            let second = try TestAuthority("second")
            try bench.files.writeClient("old", try bench.authority.identity(usage: .clientAuth))
            try bench.files.writeClient("new", try second.identity(usage: .clientAuth))
            #expect(await bench.isServed(trusting: bench.authority, as: "old"))
            #expect(await !bench.isServed(trusting: bench.authority, as: "new"))
            try bench.files.write(roots: [second.certificate])
            #expect(bench.certificates.reload())
            #expect(await bench.isServed(trusting: bench.authority, as: "new"))
            #expect(await !bench.isServed(trusting: bench.authority, as: "old"))
        }
    }

    @Test("without TLS a handler finds no certificate")
    func plaintext() async throws {
        try await TLSBench.with(.tls) { bench in
            #expect(await bench.isServed(trusting: bench.authority))
            #expect(bench.service.peers == [])
        }
    }
}

/// Reads a server's files one time after the other, as its timer does. On a thread: a task that
/// never waits would leave too few for the others.
private final class EndlessReader: Sendable {
    private let isOver = Mutex(false)
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Returns once the files were read for the first time.
    init(_ certificates: ServerCertificates) {
        Thread.detachNewThread {
            certificates.reload()
            self.begun.signal()
            while !self.isOver.withLock({ $0 }) { certificates.reload() }
            self.ended.signal()
        }
        self.begun.wait()
    }

    /// Waits for the read that is under way.
    func end() {
        self.isOver.withLock { $0 = true }
        self.ended.wait()
    }
}
