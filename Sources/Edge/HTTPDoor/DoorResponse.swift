package import HTTPTypes
package import NIOCore

/// What the door answers to a request; the listener adds `content-length`. An answer to HEAD is
/// that to GET, whose body the listener leaves out.
package struct DoorResponse: Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The header fields.
    package var headers: HTTPFields
    /// The body.
    package var body: ByteBuffer
    /// Whether it is another server's: the listener adds nothing that this one has left out.
    package var isPassedOn = false

    /// Creates a response.
    package init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
