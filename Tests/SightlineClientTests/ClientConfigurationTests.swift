// The settings at their limits and one beyond.
internal import SightlineClient
internal import Testing

struct ClientConfigurationTests {
    private func error(_ change: (inout ClientConfiguration) -> Void) throws -> String? {
        var configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        change(&configuration)
        do {
            _ = try SightlineClient(configuration)
            return nil
        } catch let error as SightlineClientError {
            return error.description
        }
    }

    @Test("the defaults are those of the libraries for other languages")
    func defaults() throws {
        let configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        let limits = configuration.limits
        #expect(limits.maxEvents == 100 && limits.maxRequestBytes == 65536)
        #expect(limits.maxUnacknowledgedRequests == 16)
        #expect(configuration.linger == .milliseconds(5))
        #expect(configuration.maxPendingEvents == 10_000)
        #expect(configuration.maxPendingBytes == 8 << 20)
        #expect(configuration.keepaliveTime == .seconds(20))
        #expect(configuration.keepaliveTimeout == .seconds(10))
        #expect(configuration.answerTimeout == .seconds(120))
        let spool = SpoolConfiguration(directory: "x")
        #expect(spool.maxBytes == 256 << 20 && spool.segmentBytes == 4 << 20)
        #expect(!spool.syncsSends)
        #expect(configuration.flushesAtExit)
    }

    @Test("a key may have the newline of its file, as text too")
    func newlines() throws {
        for ending in ["", "\n", "\r\n"] {
            #expect(try self.error { $0.credential = ClientCredential("key" + ending) } == nil)
        }
        let error = try self.error { $0.credential = ClientCredential("key\n\n") }
        #expect(error?.contains("has to hold one line") == true)
    }

    @Test("a number outside its range is named, with its value and the rule")
    func numbers() throws {
        let paths: [(String, WritableKeyPath<ClientConfiguration, Int>)] = [
            ("limits.maxEvents", \.limits.maxEvents),
            ("limits.maxRequestBytes", \.limits.maxRequestBytes),
            ("limits.maxUnacknowledgedRequests", \.limits.maxUnacknowledgedRequests),
            ("maxPendingEvents", \.maxPendingEvents), ("maxPendingBytes", \.maxPendingBytes),
        ]
        for (name, path) in paths {
            #expect(try self.error { $0[keyPath: path] = 1 } == nil)
            #expect(
                try self.error { $0[keyPath: path] = 0 }?.hasPrefix("\(name) is 0, and has to be")
                    == true)
        }
        #expect(try self.error { $0.limits.maxRequestBytes = 524_288 } == nil)
        #expect(
            try self.error { $0.limits.maxRequestBytes = 524_289 }
                == "limits.maxRequestBytes is 524289, and has to be 1 to 524288")
        for (maxBytes, segmentBytes) in [(0, 1), (1, 0)] {
            #expect(
                try self.error {
                    $0.spool = SpoolConfiguration(
                        directory: "/", maxBytes: maxBytes, segmentBytes: segmentBytes)
                }?.contains("is 0, and has to be at least 1") == true)
        }
    }

    @Test("a time outside its range is named, with its value and the rule")
    func times() throws {
        typealias Path = WritableKeyPath<ClientConfiguration, Duration>
        let paths: [(String, Path, Duration)] = [
            ("linger", \.linger, .zero), ("keepaliveTime", \.keepaliveTime, .seconds(1)),
            ("keepaliveTimeout", \.keepaliveTimeout, .milliseconds(1)),
            ("answerTimeout", \.answerTimeout, .milliseconds(1)),
        ]
        for (name, path, least) in paths {
            for good in [least, .seconds(86400)] {
                #expect(try self.error { $0[keyPath: path] = good } == nil)
            }
            for bad in [least - .nanoseconds(1), .seconds(86400) + .nanoseconds(1)] {
                #expect(
                    try self.error { $0[keyPath: path] = bad }?.hasPrefix("\(name) is") == true)
            }
        }
    }

    @Test(
        "a PING's answer has the time that is set, and never longer than until the next PING",
        arguments: [(20, 10, 10), (10, 10, 10), (5, 10, 5), (1, 86400, 1)])
    func pingTimeout(time: Int, timeout: Int, expected: Int) throws {
        var configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        configuration.keepaliveTime = .seconds(time)
        configuration.keepaliveTimeout = .seconds(timeout)
        #expect(configuration.pingTimeout == .seconds(expected))
    }

    @Test("wrong files of TLS and of a credential are told of at once")
    func files() throws {
        #expect(
            try self.error { $0.security = .tls(rootsPath: "/nowhere.pem") }?
                .hasPrefix("the files for TLS cannot be used") == true)
        #expect(
            try self.error { $0.credential = ClientCredential(path: "/nowhere") }
                == "the credential in /nowhere cannot be read")
        let error = try self.error { $0.credential = ClientCredential("se cret") }
        #expect(error?.contains("has to hold one line") == true)
        #expect(error?.contains("cret") == false)
    }

    @Test(
        "the delay between streams doubles up to 30 s, and follows what the server asks for",
        arguments: [
            (0, 0, 1.0, 100), (1, 0, 1, 200), (3, 0, 0.5, 400), (9, 0, 1, 30_000),
            (1000, 0, 1, 30_000), (0, 5_000, 0, 5_000), (0, 90_000, 1, 90_100),
            (0, 3_600_001, 1, 3_600_100), (0, -5, 1, 100),
        ])
    func backoff(tryCount: Int, asked: Int, jitter: Double, expected: Int) {
        let delay = SightlineClient.backoff(
            tryCount: tryCount, asked: .milliseconds(asked), jitter: jitter)
        #expect(delay == .milliseconds(expected))
    }
}
