internal import TrackingRules

/// The width of a timeline's steps, which are numbered since 1970.
package enum TimelineScale: Sendable, Equatable {
    /// So many seconds.
    case seconds(Int64)
    /// So many calendar months.
    case months(Int64)

    private static let minute: Int64 = 60
    private static let day: Int64 = 86_400
    private static let widths: [Int64] = [
        1, 5, 15, Self.minute, 5 * Self.minute, 15 * Self.minute, 60 * Self.minute,
        180 * Self.minute, 360 * Self.minute, Self.day, 7 * Self.day, 28 * Self.day,
    ]
    private static let second: Int64 = 1_000_000

    /// The smallest width with at most `maxSteps` steps; above the largest unit, a multiple of it.
    ///
    /// - Parameters:
    ///   - first: the time of the first hit, in microseconds since 1970.
    ///   - last: that of the last.
    ///   - counted: the hours of the step by which the first hit is counted, the longest of all;
    ///     nil if hits are read one by one.
    ///   - maxSteps: how many steps there may be.
    init(from first: Int64, to last: Int64, atLeast counted: Range<Int64>?, maxSteps: Int) {
        let hours = counted.map { Int64($0.count) } ?? 0
        let isByMonth = hours > CountSteps.hoursPerDay
        let least = hours * 60 * Self.minute
        var scales =
            isByMonth
            ? ([1, 3, 12] as [Int64]).map(Self.months)
            : Self.widths.filter { $0 >= least }.map(Self.seconds)
        while let scale = scales.first {
            if scale.index(of: last) - scale.index(of: first) < Int64(maxSteps) { break }
            scales.removeFirst()
            if scales.isEmpty { scales.append(scale.doubled) }
        }
        self = scales.first ?? .seconds(Self.day)
    }

    private var doubled: TimelineScale {
        switch self {
        case .seconds(let count): .seconds(count * 2)
        case .months(let count): .months(count * 2)
        }
    }

    /// The microseconds of a unit that no step divides: hits are summed up by these.
    var unit: Int64 {
        switch self {
        case .seconds(let count): count * Self.second
        case .months: Self.day * Self.second
        }
    }

    /// The number of the step with a time, in microseconds since 1970.
    func index(of time: Int64) -> Int64 {
        switch self {
        case .seconds(let count): time / (count * Self.second)
        case .months(let count):
            CalendarMonth(ofDay: time / (Self.day * Self.second)).number / count
        }
    }

    /// The start of a step, in microseconds since 1970.
    func start(of index: Int64) -> Int64 {
        switch self {
        case .seconds(let count): index * count * Self.second
        case .months(let count):
            CalendarMonth(number: index * count).firstDay * Self.day * Self.second
        }
    }

    /// Whether a step's start needs its second.
    var hasSeconds: Bool {
        switch self {
        case .seconds(let count): count < Self.minute
        case .months: false
        }
    }

    /// The width in the largest unit that divides it, e.g. `15 minutes`.
    var text: String {
        switch self {
        case .seconds(let count):
            let units = [(Self.day, "day"), (60 * Self.minute, "hour"), (Self.minute, "minute")]
            let (unit, name) = units.first { count.isMultiple(of: $0.0) } ?? (1, "second")
            return Self.text(count / unit, name)
        case .months(let count): return Self.text(count, "month")
        }
    }

    private static func text(_ count: Int64, _ name: String) -> String {
        "\(count) \(name)" + (count == 1 ? "" : "s")
    }
}
