// PINGs, and what ends a connection: each limit at its edge and one beyond.
@testable internal import HTTP2Edge
internal import NIOCore
internal import Testing

struct ConnectionGuardTests {
    private typealias Kind = HTTP2FrameHeader.Kind
    private let goAway = FrameScript.frame(
        HTTP2FrameHeader.Kind.goAway, payload: [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])

    @Test("a PING is answered and withheld; an answer to the transport's own goes on")
    func ping() throws {
        let connection = try GuardedConnection.greeted()
        let answer = HTTP2FrameHeader.pingAnswer(3)
        try connection.receive(FrameScript.ping(7) + answer + FrameScript.ping(8))
        let both = HTTP2FrameHeader.pingAnswer(7) + HTTP2FrameHeader.pingAnswer(8)
        #expect(try connection.sent() == both)
        #expect(try connection.passedOn() == answer)
    }

    @Test("an answer waits until the transport has written its frame to the end")
    func frameBoundary() throws {
        let connection = try GuardedConnection.greeted()
        let data = FrameScript.frame(Kind.data, stream: 1, payload: [1, 2, 3])
        try connection.send(Array(data[..<9]))
        try connection.receive(FrameScript.ping(7))
        #expect(try connection.sent() == Array(data[..<9]))
        try connection.send(Array(data[9...]))
        #expect(try connection.sent() == data[9...] + HTTP2FrameHeader.pingAnswer(7))
    }

    @Test("as many PINGs as the allowance are answered; one beyond cuts the peer off")
    func allowance() throws {
        let connection = try GuardedConnection.greeted { $0.pingAllowance = 3 }
        try connection.receive(FrameScript.frame(Kind.headers, flags: 4, stream: 5, payload: [1]))
        _ = try connection.passedOn()
        for ping in 1...3 as ClosedRange<UInt64> {
            try connection.receive(FrameScript.ping(ping))
            #expect(try connection.sent() == HTTP2FrameHeader.pingAnswer(ping))
        }
        let data = FrameScript.frame(Kind.data, stream: 5, payload: [1])
        try connection.receive(FrameScript.ping(4) + data)
        #expect(
            try connection.sent()
                == FrameScript.frame(
                    Kind.goAway, payload: [0, 0, 0, 5, 0, 0, 0, 0xB] + "too_many_pings".utf8))
        #expect(try connection.passedOn() == [], "nothing of such a peer is read any more")
        #expect(connection.isOpen, "it has a moment to read why")
        connection.wait(ConnectionGuard.farewell)
        #expect(!connection.isOpen && connection.ends == [.pings])
    }

    @Test("each DATA or HEADERS frame from us earns its PINGs, and no other frame does")
    func earned() throws {
        let connection = try GuardedConnection.greeted {
            $0.pingAllowance = 1
            $0.pingsPerAnswer = 2
        }
        try connection.receive(FrameScript.ping(0))
        try connection.send(FrameScript.frame(Kind.settings))
        try connection.send(FrameScript.frame(Kind.headers, flags: 4, stream: 1, payload: [1]))
        for _ in 1...9 { try connection.send(FrameScript.frame(Kind.data, stream: 1)) }
        for ping in 1...20 as ClosedRange<UInt64> { try connection.receive(FrameScript.ping(ping)) }
        #expect(try connection.ends == [] && !connection.isCutOff)
        try connection.receive(FrameScript.ping(21))
        #expect(try connection.isCutOff)
    }

    @Test("a PING with each answer is never too many, for hours")
    func pingPerAnswer() throws {
        let connection = try GuardedConnection.greeted {
            $0.pingAllowance = 1
            $0.maxAge = .seconds(86_400)
            $0.idleTimeout = .seconds(86_400)
        }
        for ping in 0..<2000 as Range<UInt64> {
            try connection.send(FrameScript.frame(Kind.data, stream: 1, payload: [1]))
            try connection.receive(FrameScript.ping(ping))
            #expect(try !connection.isCutOff)
            connection.wait(.seconds(7))
        }
    }

    @Test("the allowance is for 30 s, and what was not used is not kept")
    func window() throws {
        let connection = try GuardedConnection.greeted { $0.pingAllowance = 2 }
        for _ in 1...2 { try connection.receive(FrameScript.ping(1)) }
        for _ in 1...50 { try connection.send(FrameScript.frame(Kind.data, stream: 1)) }
        connection.wait(.seconds(30))
        for _ in 1...2 { try connection.receive(FrameScript.ping(1)) }
        #expect(try !connection.isCutOff)
        connection.wait(.nanoseconds(29_999_999_999))
        try connection.receive(FrameScript.ping(1))
        #expect(try connection.isCutOff)
    }

    @Test("who has not greeted in time is closed", arguments: [0, 1, 24, 33, 38])
    func handshake(_ count: Int) throws {
        let connection = try GuardedConnection { $0.handshakeTimeout = .seconds(10) }
        connection.wait(.nanoseconds(9_999_999_999))
        try connection.receive(Array(FrameScript.greeted.bytes.prefix(count)))
        #expect(connection.isOpen)
        connection.wait(.nanoseconds(1))
        #expect(!connection.isOpen && connection.ends == [.handshake])
    }

    @Test("who has greeted in time stays, with the last byte at the last moment")
    func greetedInTime() throws {
        let connection = try GuardedConnection { $0.handshakeTimeout = .seconds(10) }
        connection.wait(.nanoseconds(9_999_999_999))
        try connection.receive(FrameScript.greeted.bytes)
        connection.wait(.seconds(60))
        #expect(connection.isOpen && connection.ends == [])
    }

    @Test("at its age a connection's streams are told; without an end it is closed after the grace")
    func age() throws {
        let connection = try GuardedConnection.greeted {
            $0.maxAge = .seconds(1800)
            $0.idleTimeout = .seconds(86_400)
            $0.grace = .seconds(30)
        }
        connection.wait(.nanoseconds(1_799_999_999_999))
        #expect(connection.toldStreams == 0)
        connection.wait(.nanoseconds(1))
        #expect(connection.toldStreams == 1 && connection.isOpen && connection.ends == [.age])
        connection.wait(.nanoseconds(29_999_999_999))
        #expect(connection.isOpen)
        connection.wait(.nanoseconds(1))
        #expect(!connection.isOpen && connection.ends == [.age, .unanswered])
    }

    @Test("without a stream a connection ends after the idle time, told to the transport")
    func idle() throws {
        let connection = try GuardedConnection.greeted { $0.idleTimeout = .seconds(300) }
        connection.wait(.nanoseconds(299_999_999_999))
        #expect(connection.toldStreams == 0)
        connection.wait(.nanoseconds(1))
        #expect(connection.toldStreams == 1 && connection.ends == [.idle] && connection.isOpen)
        connection.wait(.seconds(30))
        #expect(!connection.isOpen && connection.ends == [.idle, .unanswered])
    }

    @Test("a stream keeps a connection; the idle time begins when the last one ends")
    func idleAfterStreams() throws {
        let connection = try GuardedConnection.greeted { $0.idleTimeout = .seconds(300) }
        connection.wait(.seconds(299))
        let streams = [try connection.openStream(), try connection.openStream()]
        connection.wait(.seconds(700))
        try streams[0].close().wait()
        connection.wait(.seconds(301))
        #expect(connection.ends == [])
        try streams[1].close().wait()
        connection.wait(.nanoseconds(299_999_999_999))
        #expect(connection.ends == [])
        connection.wait(.nanoseconds(1))
        #expect(connection.ends == [.idle])
    }

    @Test("whatever the transport ends a connection for: streams are told, the grace begins")
    func goAwayOfTheTransport() throws {
        let connection = try GuardedConnection.greeted { $0.grace = .seconds(30) }
        try connection.send(self.goAway)
        connection.wait(.zero)
        #expect(connection.toldStreams == 1)
        connection.wait(.seconds(20))
        // The peer answered the PING in between; a stream may have been opened meanwhile.
        try connection.send(self.goAway)
        connection.wait(.zero)
        #expect(connection.toldStreams == 2 && connection.isOpen)
        connection.wait(.seconds(10))
        #expect(!connection.isOpen && connection.ends == [.unanswered])
    }

    @Test("a connection that has ended is not ended again")
    func endedByPeer() throws {
        let connection = try GuardedConnection { _ in }
        try connection.send(self.goAway)
        try connection.channel.close().wait()
        connection.wait(.hours(1))
        #expect(connection.ends == [] && connection.toldStreams == 0)
    }
}

extension GuardedConnection {
    /// Whether the guard has sent GOAWAY.
    fileprivate var isCutOff: Bool {
        get throws {
            var reader = HTTP2FrameReader(side: .server)
            _ = FrameScript.read([try self.sent()], with: &reader)
            return reader.goAways > 0
        }
    }
}
