internal import HTTPTypes

/// Gives each request to the first door that takes it.
package struct DoorSwitch: Sendable {
    /// A door with its name in metrics.
    package struct Row: Sendable {
        let name: @Sendable (DoorRequest) -> Door
        let handler: any DoorHandler

        /// Creates a row.
        package init(_ name: Door, _ handler: any DoorHandler) {
            self.name = { _ in name }
            self.handler = handler
        }

        /// Creates a row of the door for Connect and gRPC-Web, which the content type tells apart.
        package init(connect handler: any DoorHandler) {
            self.name = { request in
                let type = MediaType(of: request.headers).name
                return type.hasPrefix("application/grpc-web") ? .grpcWeb : .connect
            }
            self.handler = handler
        }
    }

    private let rows: [Row]

    /// Creates a switch; of two doors that take a request, the first one gets it.
    package init(_ rows: [Row]) { self.rows = rows }

    /// The door that takes a request.
    package func door(of request: DoorRequest) -> Door {
        self.row(of: request)?.name(request) ?? .other
    }

    /// The answer to a request.
    package func answer(_ request: DoorRequest) async -> DoorResponse {
        if let row = self.row(of: request) { return await row.handler.answer(request) }
        return .problem(
            .notFound,
            "this is the HTTP port of Sightline, and nothing is at this path: events go to "
                + "POST /v1/events, and GET /v1/openapi.json describes them; methods of gRPC are "
                + "at POST /sightline.v1.TrackingService/… in Connect or gRPC-Web")
    }

    private func row(of request: DoorRequest) -> Row? {
        self.rows.first { $0.handler.takes(request) }
    }
}
