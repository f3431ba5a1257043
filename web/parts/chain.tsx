import { Fragment } from 'preact';

/** Texts that follow from one another, from left to right, also if the texts themselves are from right to left. */
export function Chain({ texts }: { readonly texts: readonly string[] }) {
  return (
    <span class="stored">
      {texts.map((text, index) => (
        <Fragment key={`${index}`}>
          {index > 0 && ' → '}
          <bdi>{text}</bdi>
        </Fragment>
      ))}
    </span>
  );
}
