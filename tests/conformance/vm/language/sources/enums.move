/// Enums: packing, matching by value, by reference and by mutable reference, with type parameters.
module language::enums;

public enum Shape has copy, drop, store {
    Empty,
    Circle(u64),
    Box { width: u64, height: u64 },
    Group(vector<u8>, u64),
}

public enum Tree<T> has copy, drop, store {
    Leaf,
    One(T),
    Two { left: T, right: T },
}

public struct Holder has copy, drop, store { shape: Shape, others: vector<Shape> }

public fun make(kind: u8, a: u64, b: u64): Shape {
    if (kind % 4 == 0) Shape::Empty
    else if (kind % 4 == 1) Shape::Circle(a)
    else if (kind % 4 == 2) Shape::Box { width: a, height: b }
    else Shape::Group(vector[1, 2, 3], a)
}

public fun area(kind: u8, a: u64, b: u64): u64 {
    match (make(kind, a, b)) {
        Shape::Empty => 0,
        Shape::Circle(radius) => 3 * radius * radius,
        Shape::Box { width, height: 7 } => width,
        Shape::Box { width, height } => width * height,
        Shape::Group(bytes, factor) => bytes.length() * factor,
    }
}

public fun grow(shape: &mut Shape, by: u64) {
    match (shape) {
        Shape::Circle(radius) => *radius = *radius + by,
        Shape::Box { width, .. } if (*width > 100) => *shape = Shape::Empty,
        Shape::Box { width, height } => { *width = *width + by; *height = *height * 2 },
        Shape::Group(bytes, _) => bytes.push_back(9),
        Shape::Empty => *shape = Shape::Circle(by),
    }
}

public fun grown(kind: u8, a: u64, b: u64, by: u64): vector<Shape> {
    let mut shape = make(kind, a, b);
    let before = shape;
    grow(&mut shape, by);
    vector[before, shape]
}

public fun hold(kind: u8, a: u64, by: u64): Holder {
    let mut holder = Holder { shape: make(kind, a, a), others: vector[make(1, a, a), make(2, a, a)] };
    let copied = holder;
    grow(&mut holder.shape, by);
    grow(&mut holder.others[1], by);
    let Holder { shape, mut others } = copied;
    others.push_back(shape);
    holder.others.append(others);
    holder
}

public fun same(kind: u8, other: u8, a: u64): bool { make(kind, a, 1) == make(other, a, 1) }

public fun tree_size(tree: &Tree<u64>): u64 {
    match (tree) {
        Tree::Leaf => 0,
        Tree::One(x) => *x % 10,
        Tree::Two { left, right } => *left % 10 + *right % 10,
    }
}

public fun trees(a: u64, b: u64): (u64, Tree<vector<u8>>, Tree<u64>) {
    let mut tree = Tree::Two { left: a, right: b };
    let size = tree_size(&tree) + tree_size(&Tree::One(b)) + tree_size(&Tree::Leaf);
    match (&mut tree) {
        Tree::Two { left, .. } => *left = 5,
        _ => abort 3,
    };
    (size, Tree::One(b"bytes"), tree)
}

public fun map_tree<T: copy + drop>(value: T, kind: u8): (Tree<T>, bool) {
    let tree = if (kind % 3 == 0) Tree::Leaf
        else if (kind % 3 == 1) Tree::One(value)
        else Tree::Two { left: value, right: value };
    let is_leaf = match (&tree) { Tree::Leaf => true, _ => false };
    (tree, is_leaf)
}

public fun unwrap<T: drop>(tree: Tree<T>): T {
    match (tree) {
        Tree::One(value) => value,
        Tree::Two { left, right: _ } => left,
        Tree::Leaf => abort 42,
    }
}

public fun round_trip(a: u64, kind: u8): u64 {
    let (tree, _) = map_tree(a, kind);
    unwrap(tree)
}
