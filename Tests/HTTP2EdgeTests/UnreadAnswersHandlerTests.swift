// When a stream ends because nobody reads its answers, by the event loop's own clock.
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct UnreadAnswersHandlerTests {
    private let loop = EmbeddedEventLoop()

    private func channel(isWritable: Bool = true) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: self.loop)
        channel.isWritable = isWritable
        try channel.pipeline.syncOperations.addHandler(
            UnreadAnswersHandler(timeout: .seconds(30)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func set(_ channel: EmbeddedChannel, isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    @Test("a stream that takes no answers for the time ends, and not a moment before")
    func ends() throws {
        let channel = try self.channel()
        self.set(channel, isWritable: false)
        self.loop.advanceTime(by: .seconds(30) - .nanoseconds(1))
        #expect(channel.isActive)
        self.loop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test("a slow reader lives: each time that it takes something, its time begins anew")
    func slowReader() throws {
        let channel = try self.channel()
        for _ in 1...10 {
            self.set(channel, isWritable: false)
            self.loop.advanceTime(by: .seconds(29))
            self.set(channel, isWritable: true)
            self.loop.advanceTime(by: .seconds(60))
        }
        #expect(channel.isActive)
        self.set(channel, isWritable: false)
        self.loop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }

    @Test("being told twice that a stream is full does not give it more time")
    func toldTwice() throws {
        let channel = try self.channel()
        self.set(channel, isWritable: false)
        self.loop.advanceTime(by: .seconds(29))
        self.set(channel, isWritable: false)
        self.loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a stream that is full from the start ends too")
    func fullAtStart() throws {
        let channel = try self.channel(isWritable: false)
        self.loop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }

    @Test("a stream that has ended by itself leaves no timer behind")
    func closed() throws {
        let channel = try self.channel()
        self.set(channel, isWritable: false)
        try channel.close().wait()
        self.loop.advanceTime(by: .seconds(60))
        #expect(!channel.isActive)
    }
}
