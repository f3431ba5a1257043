// Dense and sparse linear algebra, in float64 and in a fixed order, with + - * / and sqrt only: the same bits everywhere.

/**
 * Eigenvectors of a symmetric matrix by cyclic Jacobi rotations, largest eigenvalue first.
 * @param {Float64Array} matrix size × size, overwritten.
 * @param {number} size
 * @returns {{values: Float64Array, vectors: Float64Array}} `vectors`: one eigenvector a row; its largest component is positive.
 */
export function eigenvectors(matrix, size) {
  const rotation = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rotation[i * size + i] = 1;
  for (let sweep = 0; sweep < 12; sweep++) {
    let off = 0;
    let diagonal = 0;
    for (let i = 0; i < size; i++) {
      diagonal += matrix[i * size + i] * matrix[i * size + i];
      for (let j = i + 1; j < size; j++) off += matrix[i * size + j] * matrix[i * size + j];
    }
    if (off <= 1e-24 * diagonal) break;
    for (let i = 0; i < size; i++) {
      for (let j = i + 1; j < size; j++) rotate(matrix, rotation, size, i, j);
    }
  }
  const order = Array.from({ length: size }, (_, i) => i).sort(
    (a, b) => matrix[b * size + b] - matrix[a * size + a] || a - b,
  );
  const values = new Float64Array(size);
  const vectors = new Float64Array(size * size);
  order.forEach((from, to) => {
    values[to] = matrix[from * size + from];
    const row = rotation.subarray(from * size, (from + 1) * size);
    let largest = 0;
    for (const component of row) if (Math.abs(component) > Math.abs(largest)) largest = component;
    for (let k = 0; k < size; k++) vectors[to * size + k] = largest < 0 ? -row[k] : row[k];
  });
  return { values, vectors };
}

/** One Jacobi rotation in the plane (i, j); the matrix is symmetric, so rows are updated and mirrored. */
function rotate(matrix, rotation, size, i, j) {
  const value = matrix[i * size + j];
  if (value === 0) return;
  const theta = (matrix[j * size + j] - matrix[i * size + i]) / (2 * value);
  const tangent = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const ii = matrix[i * size + i];
  const jj = matrix[j * size + j];
  for (let k = 0; k < size; k++) {
    const left = matrix[i * size + k];
    const right = matrix[j * size + k];
    matrix[i * size + k] = cosine * left - sine * right;
    matrix[j * size + k] = sine * left + cosine * right;
    const leftVector = rotation[i * size + k];
    const rightVector = rotation[j * size + k];
    rotation[i * size + k] = cosine * leftVector - sine * rightVector;
    rotation[j * size + k] = sine * leftVector + cosine * rightVector;
  }
  for (let k = 0; k < size; k++) {
    matrix[k * size + i] = matrix[i * size + k];
    matrix[k * size + j] = matrix[j * size + k];
  }
  matrix[i * size + i] = ii - tangent * value;
  matrix[j * size + j] = jj + tangent * value;
  matrix[i * size + j] = 0;
  matrix[j * size + i] = 0;
}

/**
 * Projects rows to the leading directions.
 * @param {Float32Array} rows count × from
 * @param {Float64Array} directions at least `to` rows of length `from`
 * @param {number} from
 * @param {number} to
 */
export function project(rows, directions, from, to) {
  const count = rows.length / from;
  const projected = new Float32Array(count * to);
  for (let row = 0; row < count; row++) {
    for (let direction = 0; direction < to; direction++) {
      let sum = 0;
      for (let k = 0; k < from; k++) sum += rows[row * from + k] * directions[direction * from + k];
      projected[row * to + direction] = sum;
    }
  }
  return projected;
}

/**
 * Bags of words as a sparse matrix: text i holds `words[starts[i]…starts[i+1]]`.
 * @typedef {{starts: Uint32Array, words: Uint32Array}} Bags
 */

/**
 * Σ over the words of each text of coefficient · vector(word).
 * @param {Bags} bags
 * @param {(text: number, word: number) => number} coefficient
 * @param {Float64Array} vectors one row of `dimensions` a word
 * @param {number} dimensions
 * @param {Float64Array} into one row a text
 */
export function sumWords(bags, coefficient, vectors, dimensions, into) {
  into.fill(0);
  for (let text = 0; text + 1 < bags.starts.length; text++) {
    for (let at = bags.starts[text]; at < bags.starts[text + 1]; at++) {
      const factor = coefficient(text, bags.words[at]);
      const from = bags.words[at] * dimensions;
      const to = text * dimensions;
      for (let k = 0; k < dimensions; k++) into[to + k] += factor * vectors[from + k];
    }
  }
}

/** The transpose of {@link sumWords}: adds coefficient · row(text) to every word of each text. */
export function spreadTexts(bags, coefficient, rows, dimensions, into) {
  into.fill(0);
  for (let text = 0; text + 1 < bags.starts.length; text++) {
    for (let at = bags.starts[text]; at < bags.starts[text + 1]; at++) {
      const factor = coefficient(text, bags.words[at]);
      const to = bags.words[at] * dimensions;
      const from = text * dimensions;
      for (let k = 0; k < dimensions; k++) into[to + k] += factor * rows[from + k];
    }
  }
}
