// A stream of a test's own on a real server, read through the C library.
package import CNats
internal import Foundation
@testable package import NATSSink
package import TestSupport
internal import Testing

extension NATSConfiguration {
    /// The URL of the server that `make test-swift` has started; nil where none was.
    package static let testServer = ProcessInfo.processInfo.environment["SIGHTLINE_TEST_NATS"]

    /// A stream named like the test's directory, on that server.
    package static func test(_ directory: TemporaryDirectory) throws -> NATSConfiguration {
        let url = try #require(Self.testServer)
        var configuration = NATSConfiguration()
        configuration.servers = [url]
        configuration.stream = URL(filePath: directory.path).lastPathComponent
        configuration.subjectPrefix = configuration.stream
        configuration.maxBytes = 64 << 20
        return configuration
    }
}

/// Reads and changes a stream behind the sink's back.
package final class TestStream {
    /// A message as the stream has it.
    package struct Message {
        package let hitID: String
        package let data: [UInt8]
    }

    private let configuration: NATSConfiguration
    private let connection: NATSConnection

    package init(_ configuration: NATSConfiguration) throws {
        self.configuration = configuration
        self.connection = try NATSConnection(configuration)
    }

    /// All of its messages, in their order; none where there is no stream.
    package func messages() throws -> [Message] {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        let status = js_GetStreamInfo(
            &info, self.connection.jetStream, self.configuration.stream, nil, nil)
        if status == NATS_NOT_FOUND { return [] }
        try NATSError.check("stream", status)
        defer { jsStreamInfo_Destroy(info) }
        let state = try #require(info).pointee.State
        guard state.Msgs > 0 else { return [] }
        return try (state.FirstSeq...state.LastSeq).map { try self.message(at: $0) }
    }

    private func message(at sequence: UInt64) throws -> Message {
        var message: OpaquePointer?
        try NATSError.check(
            "message \(sequence)",
            js_GetMsg(
                &message, self.connection.jetStream, self.configuration.stream, sequence, nil,
                nil))
        defer { natsMsg_Destroy(message) }
        let data = UnsafeRawBufferPointer(
            start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
        return Message(
            hitID: try #require(AckWindow.hitID(of: message)), data: [UInt8](data))
    }

    /// Makes the stream as an operator would, with settings of their own.
    package func make(_ change: (inout jsStreamConfig) -> Void) throws {
        try self.configuration.stream.withCString { name in
            try (self.configuration.subjectPrefix + ".>").withCString { subjects in
                var list: [UnsafePointer<CChar>?] = [subjects]
                try list.withUnsafeMutableBufferPointer { list in
                    var config = jsStreamConfig()
                    jsStreamConfig_Init(&config)
                    config.Name = name
                    config.Subjects = list.baseAddress
                    config.SubjectsLen = 1
                    config.Discard = js_DiscardNew
                    config.Duplicates = 900_000_000_000
                    change(&config)
                    try NATSError.check(
                        "make", js_AddStream(nil, self.connection.jetStream, &config, nil, nil))
                }
            }
        }
    }

    /// Deletes the stream with all that is in it.
    package func delete() throws {
        try NATSError.check(
            "delete",
            js_DeleteStream(
                self.connection.jetStream, self.configuration.stream, nil, nil))
    }
}
