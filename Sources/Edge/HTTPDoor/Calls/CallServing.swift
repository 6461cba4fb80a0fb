package import Credentials
package import GRPCCore
package import NIOCore

/// Serves a unary call of a door as the gRPC port serves it: by the same services and interceptors.
package protocol CallServing: Sendable {
    /// The answer of a call. Never throws: an error is a status.
    func serve(_ call: DoorCall) async -> DoorAnswer
    /// The answer to all calls with these credentials, if they are refused; nil if not. Asked
    /// before a body is inflated and read, so that it costs a stranger's peer nothing; the service
    /// checks them all the same.
    func refusal(of metadata: Metadata, from peer: DoorPeer) -> DoorAnswer?
}

/// A unary call that came through a door.
package struct DoorCall: Sendable {
    /// The method.
    package var method: MethodDescriptor
    /// Its metadata: the credentials and `traceparent` of the request, as the client sent them.
    package var metadata: Metadata
    /// The request message in protobuf's binary form.
    package var message: ByteBuffer
    /// Who sent it.
    package var peer: DoorPeer
    /// Who it acts for, if the configuration says so and not its credentials: set by the door for
    /// postbacks alone, by `postback.hosts`, and by nothing that came over the network.
    package var principal: Principal?
    /// Whether the results of accepted events may be left out of the answer: its door tells none.
    package var leavesOutAccepted = false

    /// Creates a call.
    package init(
        method: MethodDescriptor, metadata: Metadata, message: ByteBuffer, peer: DoorPeer
    ) {
        self.method = method
        self.metadata = metadata
        self.message = message
        self.peer = peer
    }
}

/// What a call came to.
package struct DoorAnswer: Sendable {
    /// The response message in protobuf's binary form; nil if the call failed.
    package var message: ByteBuffer?
    /// The status.
    package var status: Status
    /// The trailing metadata, among it `grpc-status-details-bin` of a call that failed.
    package var metadata: Metadata

    /// Creates an answer.
    package init(message: ByteBuffer?, status: Status, metadata: Metadata = [:]) {
        self.message = message
        self.status = status
        self.metadata = metadata
    }
}
